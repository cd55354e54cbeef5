"""Chips by formats: every cell once, with its source; headline, words and tables agree."""

import pytest

from core.dtypes import FORMATS
from core.dtypes.libraries.hardware import COLUMNS, HARDWARE, STATUS_WORDS
from core.figures.picture import Look
from pages.dtypes.rounding_and_overflow.your_torch import (
    cell_words,
    chips_sentence,
    hardware_picture,
    source_rows,
)

PICTURE = hardware_picture("FP8", Look())


def test_every_cell_of_the_hardware_is_drawn_once_each_kind_in_its_own_shape():
    *traces, sign = PICTURE.figure.data
    assert sign.name.endswith("</b> unknown")
    drawn = [(y, x) for trace in traces for x, y in zip(trace.x, trace.y, strict=True)]
    assert len(drawn) == len(set(drawn)) == len(HARDWARE) * len(COLUMNS)
    assert len({trace.marker.symbol for trace in traces if trace.mode == "markers"}) == 4
    by_kind = dict(zip(STATUS_WORDS, traces, strict=True))
    assert ("B200", "NVFP4") in zip(by_kind["matrix"].y, by_kind["matrix"].x, strict=True)
    [band] = PICTURE.figure.layout.shapes
    assert (band.x0 + band.x1) / 2 == list(COLUMNS).index("FP8")
    assert not hardware_picture(None, Look()).figure.layout.shapes


def test_words_of_a_cell_name_the_source_and_its_date():
    chips = {chip.name: chip for chip in HARDWARE}
    words = cell_words(chips["H100, H200"], "INT4")
    assert words.startswith("<b>H100, H200</b> · INT4: no<br>Not in the tensor cores any more")
    assert "table 33" in words
    assert "2026-11" in words
    assert cell_words(chips["TPU v5e"], "FP8") == "<b>TPU v5e</b> · FP8: unknown"


def test_sentence_and_tables_say_what_is_drawn():
    assert "no: V100, T4, A100" in PICTURE.alt
    assert PICTURE.table["chip"][0] == "V100, 2017, 7.0"
    assert PICTURE.table["FP8"][:4] == ["no", "no", "no", "matrix units"]
    sources = source_rows("FP8")
    assert sources["source"][9] == "–"
    assert "(https://docs.nvidia.com/cuda/" in sources["source"][3]
    assert hardware_picture(None, Look()).alt.startswith(f"{len(HARDWARE)} chips by 13 formats")


@pytest.mark.parametrize(("name", "column"), [("bfloat16", "BF16"), ("float4_e2m1fn", "FP4")])
def test_the_headline_counts_chips_with_matrix_units(name, column):
    able = sum(chip.cells[column].status == "matrix" for chip in HARDWARE)
    said = chips_sentence(FORMATS[name])
    assert said == f"{column}: {able} of {len(HARDWARE)} chips multiply it in matrix units"


def test_no_word_is_said_about_all_chips():
    # AWS Trainium takes float8_e4m3
    assert chips_sentence(FORMATS["float8_e4m3"]) == (
        f"float8_e4m3 has no column: none of these {len(HARDWARE)} chips is known to compute in it"
    )
