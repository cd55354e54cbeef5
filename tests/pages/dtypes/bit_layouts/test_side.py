"""The rows of bits hold the digits of the codes, aligned where the mantissa begins."""

import pytest

from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast
from core.figures.picture import Look
from pages.dtypes.bit_layouts.side import BitRow, error_text, half_sentence, side_picture

PI = "3.141592653589793"


def rows_of(value, *names):
    return [BitRow(fmt=FORMATS[name], trace=explain_cast(FORMATS[name], value)) for name in names]


def drawn(value, *names, **look):
    return side_picture(value, rows_of(value, *names), Look(**look))


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float16", "float8_e4m3fn"])
def test_each_row_shows_its_code_with_the_mantissa_from_column_zero(name):
    cells = drawn(PI, "float32", name).figure.data[0]

    assert "".join(filter(None, cells.text[1])) == rows_of(PI, name)[0].bits
    levels = zip(cells.x, cells.z[1], strict=True)
    assert next(x for x, level in levels if level is not None and level >= 4) == 0


def test_bfloat16_stands_under_the_upper_half_of_float32():
    figure = drawn(PI, "float32", "bfloat16").figure
    long, short = figure.data[0].text

    assert [a for a, b in zip(long, short, strict=True) if b] == [b for b in short if b]
    (frame,) = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    assert (frame.x0, frame.x1) == (-9.5, 6.5)


def test_the_sentence_says_whether_the_halves_are_the_same_or_rounded():
    same = half_sentence(rows_of(PI, "float32", "bfloat16"))

    assert same.endswith("the first 16 bits of float32.")
    assert "rounded" in half_sentence(rows_of("0.1", "float32", "bfloat16"))
    assert half_sentence(rows_of(PI, "float16")) == ""


def test_errors_are_relative_exact_or_a_word():
    texts = [
        error_text(explain_cast(FORMATS["float16"], value))
        for value in ("1", "0.1", "65520", "nan", "inf", "1e-8", "-1e-8")
    ]

    assert texts == ["exact", "−0.024 %", "overflow", "–", "–", "−100 %", "+100 %"]


def test_all_formats_fit_and_the_table_has_a_row_for_each():
    picture = drawn("0.1", *FORMATS, present=True)

    assert picture.figure.layout.height < 650
    assert all(len(column) == len(FORMATS) for column in picture.table.values())
    assert "float8_e4m3fn 00011101 = 0.1015625 (+1.6 %)" in picture.alt
