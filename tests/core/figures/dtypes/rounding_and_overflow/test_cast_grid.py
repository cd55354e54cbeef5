"""Casts by who makes them: every answer stands where it belongs, differences are framed."""

import pytest

from core.dtypes.libraries.differences import differs
from core.dtypes.libraries.library import cast_rows, telling_pairs
from core.figures.dtypes.rounding_and_overflow.cast_grid import cast_grid, casts_alt
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.theme import COLORS, MODES

CASTS = cast_rows(telling_pairs())


def rows_of(name):
    return [row for row in CASTS if row.format == name]


@pytest.mark.parametrize("name", ["float8_e4m3fn", "bfloat16", "float6_e2m3fn", "float8_e8m0fnu"])
def test_every_answer_stands_in_its_cell(name):
    rows = rows_of(name)
    [cells] = cast_grid(rows).data
    texts = dict(zip(zip(cells.x, cells.y, strict=True), cells.text, strict=True))
    assert len(texts) == 3 * len(rows)
    for y, row in enumerate(rows):
        assert texts[0, y] == digits(row.ours, 10)
        told = "–" if row.torch is None else digits(row.torch, 10)
        assert told in texts[1, y]
        assert digits(row.ml_dtypes, 10) in texts[2, y]


@pytest.mark.parametrize("mode", MODES)
def test_differences_are_framed_and_marked(mode):
    rows = rows_of("float8_e8m0fnu")
    figure = cast_grid(rows, mode, present=True)
    framed = {
        (round((each.x0 + each.x1) / 2), round((each.y0 + each.y1) / 2))
        for each in figure.layout.shapes
    }
    expected = {
        (x, y)
        for y, row in enumerate(rows)
        for x, library in ((1, "torch"), (2, "ml_dtypes"))
        if differs(row, library)
    }
    assert framed == expected
    assert all(each.line.color == COLORS[mode]["overflow"] for each in figure.layout.shapes)
    [cells] = figure.data
    marked = {
        (x, y)
        for x, y, text in zip(cells.x, cells.y, cells.text, strict=True)
        if text.startswith("<b>≠")
    }
    assert marked == expected


def test_the_sentence_names_who_leaves_the_specification_and_where():
    said = casts_alt("float8_e8m0fnu", rows_of("float8_e8m0fnu"))
    assert "torch: minus one: -1" in said
    assert "ml_dtypes: minus zero: -0; zero" in said
    same = [row for row in rows_of("float16") if row.case == "tie"]
    assert casts_alt("float16", same).endswith("nobody leaves the specification.")
