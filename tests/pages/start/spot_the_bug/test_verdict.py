"""Two bars: what is claimed, what was computed."""

import pytest

from core.bugs.running import Answer
from core.figures.picture import Look
from pages.start.spot_the_bug.card import verdict_picture

CLAIMED = Answer(text="26.1 GB", amount=26.077)


def test_the_bars_are_as_long_as_the_numbers_and_say_them():
    drawn = verdict_picture(CLAIMED, Answer(text="28.0 GB", amount=28.0), Look())

    (bars,) = drawn.figure.data
    assert list(bars.x) == [26.077, 28.0]
    assert "26.1 GB" in drawn.alt
    assert "28.0 GB" in drawn.alt
    assert drawn.figure.layout.xaxis.range[1] > 28.0


@pytest.mark.parametrize("other", [Answer(text="nan"), Answer(text="RuntimeError")])
def test_what_is_no_number_has_no_bar(other):
    assert verdict_picture(CLAIMED, other, Look()) is None


def test_two_zeros_have_no_bars():
    zero = Answer(text="0", amount=0.0)
    assert verdict_picture(zero, zero, Look()) is None
