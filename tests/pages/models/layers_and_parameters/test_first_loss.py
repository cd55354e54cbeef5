"""The picture of the first loss, by its data."""

import math

import pytest

from core.figures.picture import Look
from core.models.first_loss import STDS, FirstLoss, first_loss_on_random_text
from core.models.spec import GPTShape
from pages.models.layers_and_parameters.first_loss import first_loss_picture, floor_picture

SHAPE = GPTShape(num_layers=1, hidden_dim=16, num_heads=2, vocab_size=50, seq_len=16)
LARGE = {"GPT-2": (FirstLoss(std=1.0, loss=458.0, logit_std=27.8, own_logit=500.0), 50_257)}


@pytest.fixture(scope="module")
def curve():
    return first_loss_on_random_text(SHAPE)


def test_the_curve_is_what_was_measured_and_ln_v_a_line(curve):
    picture = first_loss_picture(curve, curve[3], SHAPE.vocab_size, {}, Look())
    measured, point = picture.figure.data
    assert list(measured.y) == [each.loss for each in curve]
    assert list(measured.x) == pytest.approx(STDS, rel=0.1)
    assert (point.x, point.y) == ((curve[3].std,), (curve[3].loss,))
    assert [line.y0 for line in picture.figure.layout.shapes] == [math.log(50)]
    assert f"{curve[3].loss:.2f}" in picture.alt
    assert picture.table["first loss"] == [each.loss for each in curve]


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("present", [False, True])
def test_a_larger_model_has_a_mark_and_a_line_of_its_own(curve, mode, present):
    look = Look(mode=mode, present=present)
    picture = first_loss_picture(curve, curve[0], SHAPE.vocab_size, LARGE, look)
    assert picture.figure.data[2].y == (458.0,)
    lines = [line.y0 for line in picture.figure.layout.shapes]
    assert lines == [math.log(50), math.log(50_257)]
    assert "458.00" in picture.alt
    assert picture.table["ln V"][-1] == math.log(50_257)
    assert {len(column) for column in picture.table.values()} == {len(STDS) + 1}


def test_the_floor_is_the_logarithm_of_the_number_of_classes():
    picture = floor_picture([1.4, 1.2, 1.1], 3, Look())
    losses, floor = picture.figure.data
    assert list(losses.y) == [1.4, 1.2, 1.1]
    assert list(floor.y) == [math.log(3)] * 2
    assert "1.0986" in picture.alt
