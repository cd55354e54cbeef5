"""What a cast did, in words: exact digits, honest percentages, the lamps and the reason."""

import math
from fractions import Fraction

import pytest

from core.dtypes import FORMATS, OVERFLOWS, ROUNDINGS
from core.dtypes.cast.explain_cast import explain_cast
from core.figures.dtypes.rounding_and_overflow.cast_words import (
    LAMPS,
    OVERFLOW_NAMES,
    ROUNDING_NAMES,
    cut_words,
    digits,
    percent,
    precision,
    reason_words,
)
from core.figures.theme import COLORS

VALUES = ("1/3", "-1/3", "1e30", "-1e30", "1e-30", "0", "-0", "inf", "-inf", "nan", "1", "1e400")


def cast(name, value, *rules, **more):
    return FORMATS[name], explain_cast(FORMATS[name], value, *rules, **more)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (65504.0, "65504"),
        (Fraction(1, 3), "0.333333333333…"),
        (0.0999755859375, "0.0999755859375"),
        (math.nan, "NaN"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (-0.0, "-0"),
        (0.0, "0"),
    ],
)
def test_a_number_is_written_with_all_its_digits_or_with_a_mark_that_some_are_cut(value, text):
    assert digits(value) == text


def test_wide_formats_get_digits_enough_to_tell_neighbours_apart():
    _fmt, trace = cast("float64", "0.1")
    texts = {
        digits(each.exact, precision(FORMATS["float64"])) for each in (trace.lower, trace.upper)
    }
    assert len(texts) == 2


def test_every_rule_has_a_name_and_every_lamp_a_colour_and_a_sign_of_its_own():
    assert tuple(ROUNDING_NAMES) == ROUNDINGS
    assert tuple(OVERFLOW_NAMES) == OVERFLOWS
    assert {lamp.color for lamp in LAMPS.values()} <= set(COLORS["light"])
    assert len({lamp.sign for lamp in LAMPS.values()}) == len(LAMPS)


def test_the_reason_names_the_bits_that_decided():
    fmt, trace = cast("bfloat16", "257")
    assert reason_words(fmt, trace) == (
        "The bits after the kept ones are 1 0 0: exactly half, and the even neighbour 256 wins."
    )
    fmt, trace = cast("float16", "1/3")
    assert cut_words(trace) == "The bits after the kept ones are 0 1 0 1 0 1 0 1…"
    assert "less than half" in reason_words(fmt, trace)
    fmt, trace = cast("nf4", "0.3")
    assert reason_words(fmt, trace).startswith("It lies 58.7 % of the way up: more than half")


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_every_cast_of_every_format_has_a_reason(name):
    """No sentence may lack a field, whatever the number and the rules."""
    for value in VALUES:
        for rounding in ROUNDINGS:
            for overflow in OVERFLOWS:
                fmt, trace = cast(name, value, rounding, overflow)
                text = reason_words(fmt, trace)
                assert text.endswith("."), (value, rounding, overflow)
                assert "{" not in text, (value, rounding, overflow)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (Fraction(1, 2), "50 %"),
        (Fraction(1, 8), "12.5 %"),
        (Fraction(1, 3), "33.3 %"),
        (Fraction(1, 2) + Fraction(1, 10**9), "> 50 %"),
        (Fraction(1, 10**9), "> 0 %"),
        (1 - Fraction(1, 10**9), "< 100 %"),
    ],
)
def test_a_percentage_never_says_half_of_what_only_comes_near_it(share, text):
    assert percent(share) == text
