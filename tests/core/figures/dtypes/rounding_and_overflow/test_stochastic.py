"""Stochastic rounding in a picture: the counts, the mean and the number it goes to."""

from fractions import Fraction

import pytest

from core.dtypes import FORMATS
from core.dtypes.cast.draws import draw_roundings
from core.figures.dtypes.rounding_and_overflow.stochastic import stochastic_picture
from core.figures.picture import Look
from core.figures.theme import MODES


def drawn(name, value, num_draws=100, overflow="default", **look):
    draws = draw_roundings(FORMATS[name], Fraction(value), num_draws, 0, overflow)
    return draws, stochastic_picture(draws, Fraction(value), value, Look(**look))


@pytest.mark.parametrize("mode", MODES)
def test_bars_are_the_counts_and_the_line_ends_at_the_mean(mode):
    draws, picture = drawn("float8_e4m3fn", "0.3", 1000, mode=mode)
    bars, mean, number = picture.figure.data
    assert tuple(bars.y) == (draws.num_near, draws.num_away)
    assert bars.x == ("0.28125", "0.3125")
    assert mean.y[-1] == draws.mean
    assert list(number.y) == [0.3, 0.3]


def test_an_infinite_mean_breaks_the_line_and_an_infinite_number_has_none():
    draws, picture = drawn("float16", "65519.99")
    _bars, mean, _number = picture.figure.data
    assert mean.y[-1] is None
    beyond = stochastic_picture(draws, float("inf"), "inf", Look(present=True))
    assert len(beyond.figure.data) == 2


def test_an_infinite_mean_is_told_where_its_line_would_be():
    for value, said in (
        ("65519.99", "The mean is inf.<br>A single inf among the draws is enough."),
        ("1e6", "The mean is inf."),
    ):
        (note,) = drawn("float16", value)[1].figure.layout.annotations
        assert note.text == said


@pytest.mark.parametrize(("value", "overflow"), [("3", "default"), ("65519.99", "saturate")])
def test_what_is_stored_every_time_has_one_bar(value, overflow):
    _draws, picture = drawn("float16", value, overflow=overflow)
    bars = picture.figure.data[0]
    stored = "3" if value == "3" else "65504"
    assert (bars.x, bars.y) == ((stored,), (100,))
    assert picture.alt == f"{value} rounded 100 times: {stored} every time."


def test_the_words_name_chance_counts_and_mean():
    draws, picture = drawn("float8_e4m3fn", "0.3", 1000)
    assert f"{draws.num_near} times 0.28125, {draws.num_away} times 0.3125" in picture.alt
    assert "(expected share 60 %)" in picture.alt
    assert {len(column) for column in picture.table.values()} == {len(draws.sizes)}
