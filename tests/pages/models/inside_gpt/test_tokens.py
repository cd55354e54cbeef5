"""The pictures of tokens, rows, cosines and rotations, by their data."""

import numpy as np
import pytest

from core.figures.picture import Look
from core.models.first_loss import make_fresh
from core.models.lookup import look_up, random_cosines, turn
from core.models.spec import GPTShape
from core.train.text.pieces import spans_of_bytes
from core.train.text.tokenizers import ByteTokenizer
from pages.models.inside_gpt.tokens import (
    cosines_picture,
    ids_picture,
    rows_picture,
    turn_picture,
)

SHAPE = GPTShape(num_layers=1, hidden_dim=16, num_heads=2, vocab_size=50, seq_len=16)
LOOKS = (Look(), Look(mode="dark", present=True))


@pytest.mark.parametrize("look", LOOKS)
def test_each_token_is_a_box_as_wide_as_what_it_stands_for(look):
    spans = spans_of_bytes("a词", ByteTokenizer())
    picture = ids_picture({"byte": spans}, look)
    boxes = picture.figure.layout.shapes
    assert [(box.x0, box.x1) for box in boxes] == [(span.start, span.end) for span in spans]
    assert picture.table["id"] == [97, 232, 175, 141]
    assert "4" in picture.alt


@pytest.mark.parametrize("look", LOOKS)
def test_two_rows_and_their_sum_are_three_strips(look):
    looked = look_up(make_fresh(SHAPE), (5, 7), 1)
    picture = rows_picture(looked, ("token", "place", "sum"), look)
    z = np.array(picture.figure.data[0].z)
    assert z.shape == (3, 16)
    np.testing.assert_allclose(z[0] + z[1], z[2], atol=1e-7)
    assert picture.table["sum"] == looked.total.tolist()
    assert f"{looked.total[0]:.4f}" in picture.alt


@pytest.mark.parametrize("look", LOOKS)
def test_the_bars_of_the_cosines_and_the_bell_both_have_area_1(look):
    found = random_cosines(64)
    picture = cosines_picture(found, look)
    bars, bell = picture.figure.data
    step = bars.x[1] - bars.x[0]
    assert sum(bars.y) * step == pytest.approx(1)
    assert sum(bell.y) * step == pytest.approx(1, abs=0.01)
    assert f"{found.std:.4f}" in picture.alt


@pytest.mark.parametrize("look", LOOKS)
def test_each_pair_of_channels_has_a_hand_of_length_1(look):
    turned = turn(8, 3)
    picture = turn_picture(turned, 3, look)
    hands = picture.figure.data
    assert len(hands) == len(picture.figure.layout.shapes) == 4
    for hand, angle in zip(hands, turned.angles, strict=True):
        assert hand.x[1] - hand.x[0] == pytest.approx(np.cos(angle), abs=1e-6)
        assert hand.y[1] == pytest.approx(np.sin(angle), abs=1e-6)
    assert picture.table["angle, radians"] == turned.angles.tolist()
