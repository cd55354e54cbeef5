"""Chips by formats: every cell once, with its source; headline, words and tables agree."""

import pytest

from core.dtypes import FORMATS
from core.dtypes.libraries.hardware import COLUMNS, HARDWARE, STATUSES
from core.figures.picture import Look
from pages.dtypes.rounding_and_overflow.hardware import (
    cell_words,
    hardware_picture,
    sentence,
    source_rows,
)

PICTURE = hardware_picture(HARDWARE, "FP8", Look())


def test_every_cell_of_the_hardware_is_drawn_once():
    *traces, sign = PICTURE.figure.data
    assert sign.name.endswith("</b> unknown")
    drawn = [(y, x) for trace in traces for x, y in zip(trace.x, trace.y, strict=True)]
    assert len(drawn) == len(set(drawn)) == len(HARDWARE) * len(COLUMNS)
    assert len({trace.marker.symbol for trace in traces if trace.mode == "markers"}) == 4
    by_kind = dict(zip(STATUSES, traces, strict=True))
    assert ("B200", "NVFP4") in zip(by_kind["matrix"].y, by_kind["matrix"].x, strict=True)


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
    sources = source_rows(HARDWARE, "FP8")
    assert [sources["source"][n] for n in (0, 9)][1] == "–"
    assert sources["source"][3].endswith(
        "(https://docs.nvidia.com/cuda/cuda-programming-guide/"
        "05-appendices/compute-capabilities.html)"
    )
    assert {len(column) for column in sources.values()} == {len(HARDWARE)}


def test_the_chips_are_drawn_with_a_sentence_about_the_format(open_tab, texts):
    app = open_tab("torch", rounding_torch="hardware", rounding_format="float8_e4m3fn")

    [chart] = app.get("plotly_chart")
    assert chart.proto.alt.startswith(f"FP8 on {len(HARDWARE)} chips. matrix units: RTX 4090 (Ada)")
    assert "unknown: " in chart.proto.alt
    assert "CUDA Programming Guide" in texts(app)
    assert "nothing is guessed" in texts(app)


def test_a_format_without_a_chip_still_has_the_table(open_tab):
    app = open_tab("torch", rounding_torch="hardware", rounding_format="nf4")

    [chart] = app.get("plotly_chart")
    assert chart.proto.alt.startswith(f"{len(HARDWARE)} chips by 13 formats")
    # others do: AWS Trainium takes float8_e4m3, so that no word may be said about all chips
    assert sentence(FORMATS["float8_e4m3"]) == (
        f"float8_e4m3 has no column: none of these {len(HARDWARE)} chips is known to compute in it"
    )


@pytest.mark.parametrize(("name", "column"), [("bfloat16", "BF16"), ("float4_e2m1fn", "FP4")])
def test_the_headline_counts_chips_with_matrix_units(name, column):
    able = sum(chip.cells[column].status == "matrix" for chip in HARDWARE)
    said = sentence(FORMATS[name])
    assert said == f"{column}: {able} of {len(HARDWARE)} chips multiply it in matrix units"
