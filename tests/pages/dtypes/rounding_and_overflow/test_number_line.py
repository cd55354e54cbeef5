"""The number line: every number where it belongs, bands with the right ends, windows that hold."""

import math
import sys
from fractions import Fraction
from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast
from core.dtypes.exact import parse_value
from core.figures.dtypes.rounding_and_overflow.line_window import (
    BAND_NAMES,
    NARROWEST,
    VIEWS,
    WIDEST,
    Window,
    bands,
    free_window,
    moved_window,
    window_around,
    window_marks,
    window_of,
    window_words,
)
from core.figures.picture import Look
from core.figures.theme import MODES
from pages.dtypes.rounding_and_overflow.number_line import line_picture

LARGEST = sys.float_info.max


def drawn(names, value, view, **look):
    rows = [(FORMATS[name], explain_cast(FORMATS[name], value)) for name in names]
    window = window_of(view, [fmt for fmt, _trace in rows], rows[0][1])
    return line_picture(rows, value, window, Look(**look)), window


def line(*args, **look):
    picture, window = drawn(*args, **look)
    return picture.figure, window


def numbers_of(figure, name):
    """Return the x of the marks in the row of a format."""
    return list(next(trace.x for trace in marks(figure) if trace.y and name in trace.y[0]))


def marks(figure):
    return [trace for trace in figure.data if trace.type == "scatter" and not trace.name]


@pytest.mark.parametrize("mode", MODES)
def test_every_number_of_a_small_format_is_a_mark_at_its_place(mode):
    figure, window = line(["float4_e2m1fn"], "0.7", "linear", mode=mode)
    assert (window.low, window.high) == (-2.0, 2.0)
    assert numbers_of(figure, "float4_e2m1fn") == [-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2]


def test_in_powers_of_two_each_binade_is_equally_wide():
    figure, window = line(["float8_e4m3fn"], "1", "log")
    places = numbers_of(figure, "float8_e4m3fn")
    assert len(places) == 253
    assert window.at(2.0) - window.at(1.0) == window.at(256.0) - window.at(128.0) == 1.0
    assert places == sorted(places)
    assert window.at(-3.0) == -window.at(3.0)
    assert window.at(0.0) == 0


def test_too_many_numbers_become_the_powers_of_two_between_them():
    figure, _window = line(["float16", "bfloat16"], "1", "log")
    assert len(numbers_of(figure, "<b>float16")) == 2 * 31
    assert len(numbers_of(figure, "bfloat16")) == 2 * 255
    hover = next(trace for trace in marks(figure) if len(trace.x) == 62).hovertext
    assert "1,024 numbers from 1 to 2, 0.000976562 apart" in hover
    assert sum(len(trace.x) for trace in figure.data if trace.x is not None) < 1000


def test_the_bands_are_the_ranges_of_the_format():
    window = Window(low=-1e9, high=1e9)
    found = bands(FORMATS["float16"], window)
    assert found[-1] == ("overflow", 65520.0, 1e9)
    assert found[-2] == ("normal", 2.0**-14, 65520.0)
    assert found[-3] == ("subnormal", 2.0**-25, 2.0**-14)
    assert ("zero", 0.0, 2.0**-25) in found
    assert bands(FORMATS["uint4"], window)[0] == ("no_sign", -1e9, 0.0)
    for name, fmt in FORMATS.items():
        edges = bands(fmt, window)
        assert {kind for kind, _low, _high in edges} <= set(BAND_NAMES), name
        assert all(a[2] == b[1] for a, b in pairwise(edges)), name


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", FORMATS)
def test_every_view_of_every_format_holds_every_number(name, view):
    for value in ("0", "inf", "nan", "1e400", "-1e-400", "1/3"):
        fmt = FORMATS[name]
        window = window_of(view, [fmt], explain_cast(fmt, value))
        assert window.low < window.high, value
        values, texts = window.axis_ticks()
        assert len(values) == len(texts) > 1, value
        assert all(math.isfinite(each) for each in values), value


def free(names, center, exponent, **look):
    rows = [(FORMATS[name], explain_cast(FORMATS[name], "1")) for name in names]
    window, changed = free_window(parse_value(center), exponent)
    return line_picture(rows, "1", window, Look(**look)), window, changed


def test_a_free_window_marks_every_number_inside_and_as_far_again_on_both_sides():
    picture, window, changed = free(["float16", "bfloat16"], "1", -5)
    assert (window.low, window.high, window.drawn) == (0.984375, 1.015625, (0.953125, 1.046875))
    assert changed == ""
    assert "49 in float16, 7 in bfloat16" in picture.alt
    drawn = {
        float(text): x
        for trace in marks(picture.figure)
        if "bfloat16" in trace.y[0]
        for x, text in zip(trace.x, trace.hovertext, strict=True)
    }
    assert sorted(drawn) == [1 - n / 256 for n in range(12, 0, -1)] + [
        1 + n / 128 for n in range(7)
    ]
    assert all(x == (value - 1) * 32 for value, x in drawn.items())  # a window is one unit wide
    assert picture.table["numbers in the window"] == [49, 7]
    assert picture.table["one mark for so many"] == [1, 1]


@pytest.mark.parametrize(("value", "x"), [("-3", 0), ("1e9", 1), ("inf", 1)])
def test_a_number_outside_a_window_is_pointed_to(value, x):
    rows = [(FORMATS["float16"], explain_cast(FORMATS["float16"], value))]
    picture = line_picture(rows, value, free_window(Fraction(1), 0)[0], Look())
    (note,) = picture.figure.layout.annotations
    assert (note.x, note.xref) == (x, "paper")
    assert value in note.text


def test_where_numbers_are_too_many_the_marks_look_different_and_the_picture_says_so():
    picture, window, _changed = free(["float32", "float16"], "1", -3)
    assert "(1 in " in window_words([FORMATS["float32"]], window)
    assert "all marked" in window_words([FORMATS["float16"]], window)
    wide, *_sides = (trace for trace in marks(picture.figure) if "float32" in trace.y[0])
    narrow, *_sides = (trace for trace in marks(picture.figure) if "float16" in trace.y[0])
    assert wide.marker.size < narrow.marker.size
    assert "marked" in wide.hovertext[0]
    assert narrow.hovertext[0] == "0.9375"


@pytest.mark.parametrize(
    ("center", "exponent", "words"),
    [("nan", 0, "at NaN"), ("inf", 0, "at inf"), ("1e400", 0, "float64 ends"), ("1", -99, "2⁻⁴⁸")],
)
def test_a_window_that_cannot_be_is_moved_to_one_that_can_and_says_so(center, exponent, words):
    _picture, window, changed = free(["float64"], center, exponent)
    assert words in changed
    assert window.low < window.high
    assert all(map(math.isfinite, window.drawn))
    values, texts = window.axis_ticks()
    assert len(set(texts)) == len(values)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_drawn_in_every_kind_of_window(name):
    for center, exponent in (("0", -20), ("1", -3), ("-448", 6), ("65504", 8), ("2^127", 128)):
        picture, window, _changed = free([name], center, exponent)
        values, texts = window.axis_ticks()
        assert len(values) == len(set(texts)), center
        low, high = map(window.at, window.drawn)
        assert all(low <= x <= high for trace in marks(picture.figure) for x in trace.x), center


def lies_in_float64(window):
    """Whether a window can be drawn, and is as wide as it says."""
    low, high = window.drawn
    width = Fraction(window.high) - Fraction(window.low)
    return (
        -LARGEST <= low <= window.low < window.high <= high <= LARGEST
        and abs(width / Fraction(2) ** window.exponent - 1) <= Fraction(1, 2**3)
        and all(map(math.isfinite, map(window.at, (low, high))))
    )


ENDS = st.floats(allow_nan=False, allow_infinity=False)


@given(ENDS, st.integers(NARROWEST, WIDEST), st.floats(-1, 1), st.integers(-9, 9))
def test_a_hand_moves_a_window_by_its_share_of_the_width_to_less_than_a_pixel(
    center, exponent, shift, levels
):
    window, _changed = free_window(Fraction(center), exponent)
    text, width = moved_window(window, shift, levels)
    assert NARROWEST <= width <= WIDEST
    assert len(text) <= 40
    middle = (Fraction(window.low) + Fraction(window.high)) / 2
    wanted = middle + Fraction(shift) * Fraction(2) ** window.exponent
    wanted = min(max(wanted, -Fraction(LARGEST)), Fraction(LARGEST))
    shown, _changed = free_window(parse_value(text), width)
    assert abs(parse_value(text) - wanted) <= Fraction(2) ** shown.exponent / 2000
    assert lies_in_float64(shown)


@given(ENDS, ENDS)
def test_a_stretch_that_was_marked_lies_in_the_window_that_it_opens(one, other):
    low, high = sorted((one, other))
    text, exponent = window_around(low, high)
    window, _changed = free_window(parse_value(text), exponent)
    assert lies_in_float64(window)
    if high - low <= 2.0**WIDEST:
        room = Fraction(2) ** window.exponent / 500
        assert Fraction(window.low) - room <= low
        assert high <= Fraction(window.high) + room


@pytest.mark.parametrize("center", ["1e308", "-1e308", "2^-1074", "0", "-448"])
@pytest.mark.parametrize("exponent", [NARROWEST, -3, WIDEST])
def test_a_window_at_an_end_of_float64_is_true_and_says_that_it_ends(center, exponent):
    picture, window, changed = free(["float64", "float16"], center, exponent)
    assert lies_in_float64(window)
    assert bool(changed) == (exponent != -3 or "308" in center)
    for trace in marks(picture.figure):
        if "float64" in trace.y[0]:
            values = [float(text.partition("<br>")[0].replace("…", "")) for text in trace.hovertext]
            assert list(trace.x) == pytest.approx([window.at(value) for value in values], abs=1e-9)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz"])
def test_the_marks_of_a_window_are_the_codes_that_ml_dtypes_has_there(name):
    every = np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, name)).astype(np.float64)
    for center, exponent in (("0", -5), ("1", 1), ("-3", 3), ("448", 6), ("0", 9)):
        _picture, window, _changed = free([name], center, exponent)
        inside = every[(window.low <= every) & (every <= window.high)]
        assert window_marks(FORMATS[name], window).values == tuple(np.unique(inside)), center


def test_places_on_the_axis_of_powers_of_two_are_read_back():
    window = drawn(["float16"], "1", "log")[1]
    for value in (-3.0, 0.0, 0.375, 65504.0):
        assert window.number_at(window.at(value)) == pytest.approx(value)
