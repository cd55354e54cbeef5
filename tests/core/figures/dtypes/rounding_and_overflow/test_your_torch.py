"""Casts by who makes them, their differences framed and explained; operations by dtype."""

import math
from dataclasses import replace

import pytest

from core.dtypes.libraries.differences import differs
from core.dtypes.libraries.library import cast_rows, telling_pairs
from core.dtypes.libraries.library_records import OperationRow
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.dtypes.rounding_and_overflow.your_torch import (
    cast_table,
    casts_picture,
    differing,
    family_of,
    length_words,
    operations_picture,
    reasons_of,
    worth_showing,
)
from core.figures.picture import Look
from core.figures.theme import COLORS, MODES

CASTS = cast_rows(telling_pairs())
OPERATIONS = (
    OperationRow(dtype="float16", device="cpu", operation="add", works=True),
    OperationRow(dtype="float16", device="cpu", operation="sum", works=False, message="no sum"),
)


def rows_of(name):
    return [row for row in CASTS if row.format == name]


@pytest.mark.parametrize("name", ["float8_e4m3fn", "bfloat16", "float6_e2m3fn", "float8_e8m0fnu"])
def test_every_answer_stands_in_its_cell(name):
    rows = rows_of(name)
    [cells] = casts_picture(name, rows, Look()).figure.data
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
    look = Look(mode=mode, present=True)
    figure = casts_picture("float8_e8m0fnu", rows, look).figure
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
    said = casts_picture("float8_e8m0fnu", rows_of("float8_e8m0fnu"), Look()).alt
    assert "torch: minus one: -1" in said
    assert "ml_dtypes: minus zero: -0; zero" in said
    same = [row for row in rows_of("float16") if row.case == "tie"]
    assert casts_picture("float16", same, Look()).alt.endswith(
        "all libraries follow the specification."
    )


def test_two_codes_of_nan_are_shown_and_explained():
    rows = rows_of("bfloat16")
    assert "NaN (0x7FC0 / 0xFFFF)" in cast_table(rows)["torch"]
    assert "0x7FC0 for one number alone and 0xFFFF among 64" in length_words(rows)
    assert length_words(rows_of("float16")) == ""


def test_a_quiet_nan_is_not_worth_a_row():
    shown = {name: sum(map(worth_showing, rows_of(name))) for name in ("float16", "bfloat16")}
    assert shown == {"float16": len(rows_of("float16")) - 1, "bfloat16": len(rows_of("bfloat16"))}


def test_each_reason_is_told_once_with_those_whom_it_concerns_and_an_unknown_one_says_so():
    reasons = reasons_of(differing(CASTS))
    assert len({told.sentence for told in reasons}) == 6
    assert len({(told.sentence, told.libraries) for told in reasons}) == len(reasons)
    [told] = reasons_of([replace(rows_of("float16")[0], torch=1.0)])
    assert told.sentence == "Nobody has explained this one yet."


def test_every_number_is_written_with_its_sign():
    zero = next(row for row in rows_of("float16") if row.case == "minus_zero")
    assert cast_table([zero])["the number"] == ["minus zero: -0"]
    assert math.copysign(1, zero.torch) < 0


def test_no_library_is_blamed_for_a_format_in_which_it_is_right():
    """NumPy, which ml_dtypes leans on, rounds a float64 to float16 once; torch has no float6."""
    twice = [told for told in reasons_of(CASTS) if "rounds twice" in told.sentence]

    by_format = {name: told.libraries for told in twice for name in told.formats}
    assert by_format["float16"] == ("torch",)
    assert by_format["float6_e2m3fn"] == ("ml_dtypes",)
    assert by_format["bfloat16"] == ("torch", "ml_dtypes")


def test_operations_are_marked_and_refusals_keep_torchs_words():
    picture = operations_picture(OPERATIONS, Look())
    works, refused = picture.figure.data
    assert (works.x, refused.x) == (("add",), ("sum",))
    assert refused.hovertext == ("<b>float16</b> · sum<br>no sum",)
    assert picture.alt == "Of 2 operations work: float16 1."
    assert picture.table["torch's own words"] == ["no sum"]


@pytest.mark.parametrize(
    ("family", "dtypes"),
    [
        ("floats", ["float4_e2m1fn_x2"]),
        ("integers", ["bool", "int16"]),
        ("few", ["int1", "uint7"]),
        ("others", ["complex64", "bits8", "qint8"]),
    ],
)
def test_every_dtype_has_its_family(family, dtypes):
    assert [family_of(dtype) for dtype in dtypes] == [family] * len(dtypes)
