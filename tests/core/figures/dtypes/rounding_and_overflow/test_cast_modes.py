"""Six modes by four rules: every cell is the codec's own answer, the chosen one is framed."""

import numpy as np
import pytest

from core.dtypes import FORMATS, OVERFLOWS, ROUNDINGS
from core.dtypes.cast.explain_cast import explain_cast
from core.figures.dtypes.rounding_and_overflow.cast_modes import cast_modes, modes_alt, modes_table
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.theme import COLORS, MODES


def grid(name, value):
    return {
        (rounding, overflow): explain_cast(FORMATS[name], value, rounding, overflow)
        for rounding in ROUNDINGS
        for overflow in OVERFLOWS
    }


@pytest.mark.parametrize(("name", "value"), [("float16", 65519.99), ("float8_e4m3fn", -465.0)])
def test_every_cell_is_what_the_codec_answers(name, value):
    (cells,) = cast_modes(grid(name, value), ("up", "nan")).data
    for x, y, text in zip(cells.x, cells.y, cells.text, strict=True):
        rounding, overflow = ROUNDINGS[y], OVERFLOWS[x]
        if rounding == "stochastic":
            continue
        stored = FORMATS[name].round(np.array([value]), rounding, overflow)[0]
        assert f"<b>{digits(float(stored))}</b>" in text, (rounding, overflow)


@pytest.mark.parametrize("mode", MODES)
def test_the_chosen_pair_alone_has_the_thick_frame(mode):
    figure = cast_modes(grid("float16", "1/3"), ("up", "nan"), mode, present=True)
    thick = [shape for shape in figure.layout.shapes if shape.line.width == 5]
    (frame,) = thick
    assert round(frame.x0) == OVERFLOWS.index("nan")
    assert round((frame.y0 + frame.y1) / 2) == ROUNDINGS.index("up")
    assert frame.line.color == COLORS[mode]["accent"]


def test_the_sentence_counts_the_results_and_the_table_has_them_all():
    found = grid("float16", "65520")
    words = modes_alt(found, "65520", "float16")
    assert words == (
        "65520 in float16 under six rounding modes and four overflow rules: "
        "3 different results: inf, 65504, NaN."
    )
    table = modes_table(found)
    assert len(table) == 1 + len(OVERFLOWS)
    assert table["saturate"] == ["65504"] * 6


def test_one_result_is_no_list_of_results():
    assert modes_alt(grid("float16", "1"), "1", "float16").endswith("rules: 1 every time.")
