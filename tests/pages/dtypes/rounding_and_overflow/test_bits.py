"""The boxes under the zoom: the bits that are kept, and guard, round and sticky behind them."""

import struct

from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast
from pages.dtypes.rounding_and_overflow.zoom import (
    MAX_KEPT,
    ROW_UNITS,
    bit_row,
    field_kinds,
)


def texts(name, value):
    boxes, labels = bit_row(FORMATS[name], explain_cast(FORMATS[name], value))
    return [box.text for box in boxes], [text for _x, text in labels]


def test_the_kept_bits_are_the_significand_and_three_bits_follow():
    kept, labels = texts("bfloat16", "257")
    assert kept == ["1.", *"0000000", "1", "0", "0"]
    assert labels == ["kept, the hidden bit first", "guard", "round", "sticky"]


def test_the_bits_are_those_of_the_double_that_is_cut():
    value = 65519.99
    (code,) = struct.unpack(">Q", struct.pack(">d", value))
    mantissa = f"{code & (1 << 52) - 1:052b}"
    kept, _labels = texts("float16", str(value))
    assert "".join(kept[1:11]) == mantissa[:10]
    assert kept[11:13] == list(mantissa[10:12])
    assert kept[13] == "1"


def test_under_few_boxes_the_words_are_short_and_an_integer_has_no_hidden_bit():
    for name in ("float8_e8m0fnu", "float4_e2m1fn", "float8_e5m2", "int8"):
        assert texts(name, "1.1")[1][0] == "kept bits", name
    assert texts("int8", "3.75")[0] == [*"0000011", "1", "1", "0"]


def test_a_long_row_is_shortened_in_the_middle_and_fits():
    boxes, _labels = bit_row(FORMATS["float64"], explain_cast(FORMATS["float64"], "1/3"))
    assert "…" in [box.text for box in boxes]
    assert len(boxes) == MAX_KEPT + 3
    assert boxes[-1].x - boxes[0].x < ROW_UNITS


def test_where_nothing_was_cut_the_stored_code_is_shown_by_fields():
    boxes, labels = bit_row(FORMATS["float16"], explain_cast(FORMATS["float16"], "inf"))
    assert "".join(box.text for box in boxes) == "0111110000000000"
    assert [box.color for box in boxes] == list(field_kinds(FORMATS["float16"]))
    assert labels[0][1] == "the code that is stored"
    boxes, _labels = bit_row(FORMATS["nf4"], explain_cast(FORMATS["nf4"], "0.3"))
    assert [box.color for box in boxes] == ["other"] * 4
