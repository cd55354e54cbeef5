import numpy as np
import pytest

from core.dtypes import FORMATS
from core.dtypes.labs.grad_scaler import gradient_peaks, run_scaler
from core.dtypes.labs.loss_scale import gradient_histogram, loss_scale_bands
from core.figures.picture import Look
from core.figures.theme import COLORS, MODES
from pages.dtypes.low_precision_training.loss_scale import (
    _powers,
    loss_scale_picture,
    scaler_picture,
)

HISTOGRAM = gradient_histogram([1e-9, 1e-6, 1e-6, 1.0])
FP16 = FORMATS["float16"]


def drawn(scale=1.0, histogram=HISTOGRAM, fmt=FP16, mode="light"):
    return loss_scale_picture(histogram, loss_scale_bands(histogram, fmt, scale), Look(mode=mode))


def rectangles(figure):
    return [(shape.x0, shape.x1) for shape in figure.layout.shapes]


@pytest.mark.parametrize("mode", MODES)
def test_a_scale_moves_the_bands_and_not_the_bars(mode):
    small, large = (drawn(scale, mode=mode).figure for scale in (1.0, 256.0))
    np.testing.assert_array_equal(small.data[0].x, large.data[0].x)
    np.testing.assert_array_equal(small.data[0].y, large.data[0].y)
    assert rectangles(small)[1][0] == -25
    assert rectangles(large)[1][0] == -33
    assert {shape.fillcolor for shape in small.layout.shapes} <= set(COLORS[mode].values())


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("power", [0, 32])
def test_bands_beyond_the_picture_are_left_out(name, power):
    figure = drawn(2.0**power, fmt=FORMATS[name]).figure
    assert all(left < right for left, right in rectangles(figure))


def test_gradients_that_are_all_zero_have_a_picture():
    assert drawn(histogram=gradient_histogram([0.0, 0.0])).figure.data[0].y.sum() == 0


def test_the_sentence_and_the_table_count_every_band():
    picture = drawn(65536.0)
    assert picture.alt.startswith("Of 4 gradients times 65,536 in FP16: ")
    assert picture.table["gradients"] == ["0", "0", "3", "1"]


STEPS = run_scaler(gradient_peaks(60, 3.0, 40), FORMATS["float16"], 5)


def drawn_steps(current=1, steps=STEPS, mode="light"):
    return scaler_picture(steps, current, "float16", Look(mode=mode))


@pytest.mark.parametrize("mode", MODES)
def test_the_scale_its_changes_and_the_gradients_stand_over_the_same_steps(mode):
    scale, halved, grew, gradients, ceiling = drawn_steps(mode=mode).figure.data
    assert scale.y == tuple(each.scale for each in STEPS)
    assert halved.x == tuple(each.step for each in STEPS if each.found_inf)
    assert grew.x == tuple(each.step for each in STEPS if each.change == "grew")
    assert gradients.y[39] == max(gradients.y)
    assert set(ceiling.y) == {65504.0}
    assert halved.marker.symbol != grew.marker.symbol
    assert halved.marker.color == COLORS[mode]["overflow"]


def test_a_line_marks_the_current_step_and_sentence_and_table_tell_the_story():
    picture = drawn_steps(7)
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
