"""Chips by formats: every cell once, with its source; words and table say the same."""

from core.dtypes.libraries.hardware import COLUMNS, HARDWARE, STATUSES
from core.figures.dtypes.rounding_and_overflow.hardware import (
    cell_words,
    hardware_picture,
    source_rows,
)
from core.figures.picture import Look

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
