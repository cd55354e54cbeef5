"""Six modes by four rules: every cell is the codec's own answer, the chosen one is framed."""

import numpy as np
import pytest

from core.dtypes import FORMATS, OVERFLOWS, ROUNDINGS
from core.dtypes.cast.explain_cast import explain_cast
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.picture import Look
from pages.dtypes.rounding_and_overflow.modes import modes_picture


def drawn(name, value, **look):
    grid = {
        (rounding, overflow): explain_cast(FORMATS[name], value, rounding, overflow)
        for rounding in ROUNDINGS
        for overflow in OVERFLOWS
    }
    return modes_picture(grid, ("up", "nan"), name, str(value), Look(**look))


@pytest.mark.parametrize(("name", "value"), [("float16", 65519.99), ("float8_e4m3fn", -465.0)])
def test_every_cell_is_what_the_codec_answers(name, value):
    (cells,) = drawn(name, value).figure.data
    for x, y, text in zip(cells.x, cells.y, cells.text, strict=True):
        rounding, overflow = ROUNDINGS[y], OVERFLOWS[x]
        if rounding == "stochastic":
            continue
        stored = FORMATS[name].round(np.array([value]), rounding, overflow)[0]
        assert f"<b>{digits(float(stored))}</b>" in text, (rounding, overflow)


def test_the_sentence_counts_the_results_and_the_table_has_them_all():
    picture = drawn("float16", "65520")
    assert picture.alt == (
        "65520 in float16 under six rounding modes and four overflow rules: "
        "3 different results: inf, 65504, NaN."
    )
    assert len(picture.table) == 1 + len(OVERFLOWS)
    assert picture.table["saturate"] == ["65504"] * 6
    assert drawn("float16", "1").alt.endswith("rules: 1 every time."), "no list of one"
