import pytest

from core.dtypes import FORMATS
from core.dtypes.labs import ScalerRule, gradient_peaks, run_scaler
from core.figures.picture import Look
from core.figures.theme import COLORS, MODES
from pages.dtypes.low_precision_training.scaler import _powers, scaler_picture

STEPS = run_scaler(gradient_peaks(60, 3.0, 40), FORMATS["float16"], ScalerRule(growth_interval=5))


def drawn(current=1, steps=STEPS, mode="light"):
    return scaler_picture(steps, current, "float16", Look(mode=mode))


@pytest.mark.parametrize("mode", MODES)
def test_the_scale_its_changes_and_the_gradients_stand_over_the_same_steps(mode):
    scale, halved, grew, gradients, ceiling = drawn(mode=mode).figure.data
    assert scale.y == tuple(each.scale for each in STEPS)
    assert halved.x == tuple(each.step for each in STEPS if each.found_inf)
    assert grew.x == tuple(each.step for each in STEPS if each.change == "grew")
    assert gradients.y[39] == max(gradients.y)
    assert set(ceiling.y) == {65504.0}
    assert halved.marker.symbol != grew.marker.symbol
    assert halved.marker.color == COLORS[mode]["overflow"]


def test_what_overflows_is_marked_by_its_shape_too():
    gradients = drawn().figure.data[3]
    assert [mark == "x" for mark in gradients.marker.symbol] == [each.found_inf for each in STEPS]


def test_a_scale_that_never_moves_can_be_drawn():
    quiet = run_scaler([0.01] * 5, FORMATS["float16"])
    assert drawn(5, quiet).figure.data[1].x == ()


def test_a_line_marks_the_current_step_and_sentence_and_table_tell_the_story():
    picture = drawn(7)
    (now,) = picture.figure.layout.shapes
    assert (now.x0, now.x1) == (7, 7)
    assert picture.alt.endswith("At step 7 it is 16,384.")
    table = picture.table
    first = [table[name][0] for name in ("as stored", "optimizer", "scale after it")]
    assert first == ["inf", "skipped", "halved"]
    assert table["scale after it"][6] == "doubled"


def test_marks_of_the_scale_stand_apart():
    for most in range(2, 40):
        marks = _powers([1.0, 2.0**most])["tickvals"]
        assert 2 <= len(marks) <= 5, most
