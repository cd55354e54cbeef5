"""Stochastic rounding in a picture: the counts, the mean and the number it goes to."""

from fractions import Fraction

import pytest

from core.dtypes import FORMATS
from core.dtypes.cast.draws import draw_roundings
from core.figures.dtypes.rounding_and_overflow.stochastic_mean import (
    stochastic_alt,
    stochastic_mean,
    stochastic_table,
)
from core.figures.theme import MODES


@pytest.mark.parametrize("mode", MODES)
def test_bars_are_the_counts_and_the_line_ends_at_the_mean(mode):
    draws = draw_roundings(FORMATS["float8_e4m3fn"], Fraction(3, 10), 1000, 0)
    bars, mean, number = stochastic_mean(draws, 0.3, mode).data
    assert tuple(bars.y) == (draws.num_near, draws.num_away)
    assert bars.x == ("0.28125", "0.3125")
    assert mean.y[-1] == draws.mean
    assert list(number.y) == [0.3, 0.3]


def test_an_infinite_mean_breaks_the_line_and_an_infinite_number_has_none():
    draws = draw_roundings(FORMATS["float16"], Fraction("65519.99"), 100, 0)
    _bars, mean, _number = stochastic_mean(draws, 65519.99).data
    assert mean.y[-1] is None
    assert len(stochastic_mean(draws, float("inf"), present=True).data) == 2


def test_an_infinite_mean_is_told_where_its_line_would_be():
    draws = draw_roundings(FORMATS["float16"], Fraction("65519.99"), 100, 0)
    (note,) = stochastic_mean(draws, 65519.99).layout.annotations
    assert note.text == "The mean is inf.<br>A single inf among the draws is enough."
    far = draw_roundings(FORMATS["float16"], Fraction(10**6), 100, 0)
    (note,) = stochastic_mean(far, 1e6).layout.annotations
    assert note.text == "The mean is inf."


@pytest.mark.parametrize(("value", "overflow"), [("3", "default"), ("65519.99", "saturate")])
def test_what_is_stored_every_time_has_one_bar(value, overflow):
    draws = draw_roundings(FORMATS["float16"], Fraction(value), 100, 0, overflow)
    bars = stochastic_mean(draws, float(value)).data[0]
    stored = "3" if value == "3" else "65504"
    assert (bars.x, bars.y) == ((stored,), (100,))
    assert stochastic_alt(draws, value) == f"{value} rounded 100 times: {stored} every time."


def test_the_words_name_chance_counts_and_mean():
    draws = draw_roundings(FORMATS["float8_e4m3fn"], Fraction(3, 10), 1000, 0)
    words = stochastic_alt(draws, "0.3")
    assert f"{draws.num_near} times 0.28125, {draws.num_away} times 0.3125" in words
    assert "(expected share 60 %)" in words
    assert {len(column) for column in stochastic_table(draws).values()} == {len(draws.sizes)}
