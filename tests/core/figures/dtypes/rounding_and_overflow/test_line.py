"""The number line: every number where it belongs, bands with the right ends, windows that hold."""

import math
from itertools import pairwise

import pytest

from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast
from core.figures.dtypes.rounding_and_overflow.line import MAX_FORMATS, line_picture
from core.figures.dtypes.rounding_and_overflow.line_window import (
    BAND_NAMES,
    VIEWS,
    Window,
    bands,
    window_of,
)
from core.figures.picture import Look
from core.figures.theme import MODES


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


def test_near_the_number_even_float64_shows_its_numbers():
    figure, window = line(["float64"], "1/3", "near")
    assert len(numbers_of(figure, "float64")) in (16, 17)
    assert window.low < 1 / 3 < window.high


def test_the_number_is_marked_and_what_is_stored_is_circled_and_told():
    picture, window = drawn(["float16", "float8_e4m3fn"], "300", "linear")
    figure = picture.figure
    assert figure.layout.shapes[0].x0 == window.at(300.0)
    stored = next(trace for trace in figure.data if trace.name == "stored")
    assert list(stored.x) == [300.0, 288.0]
    assert picture.alt == ("On the number line 300 becomes 300 in float16, 288 in float8_e4m3fn.")


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


def test_bands_differ_in_pattern_not_in_colour_only():
    figure, _window = line(["float16", "uint8"], "1", "log")
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert len({bar.marker.pattern.shape for bar in bars}) == len(bars) == 5


@pytest.mark.parametrize("count", [0, MAX_FORMATS + 1])
def test_more_rows_than_fit_are_refused(count):
    with pytest.raises(ValueError, match=f"has 1 to {MAX_FORMATS} formats, not {count}"):
        line_picture([(FORMATS["int8"], None)] * count, "1", Window(low=0, high=1), Look())
