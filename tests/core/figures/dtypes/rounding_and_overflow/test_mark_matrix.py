"""Marks by rows and columns: each kind one trace with its own shape, everything in order."""

import pytest

from core.dtypes.libraries.hardware import COLUMNS, HARDWARE, STATUSES
from core.dtypes.libraries.library_records import OperationRow
from core.figures.dtypes.rounding_and_overflow.hardware_matrix import (
    cell_words,
    hardware_alt,
    hardware_matrix,
    hardware_table,
    source_rows,
)
from core.figures.dtypes.rounding_and_overflow.mark_matrix import Look, Mark, mark_matrix
from core.figures.dtypes.rounding_and_overflow.operation_matrix import (
    family_of,
    operation_alt,
    operation_matrix,
    operation_table,
)
from core.figures.theme import COLORS, MODES

LOOKS = {
    "yes": Look(words="yes", symbol="circle", meaning="works"),
    "what": Look(words="what", symbol="?", meaning="muted"),
}
MARKS = {
    ("b", "1"): Mark(kind="yes", hover="b one"),
    ("a", "2"): Mark(kind="what", hover="a two"),
}
ROWS = (
    OperationRow(dtype="float16", device="cpu", operation="add", works=True),
    OperationRow(dtype="float16", device="cpu", operation="sum", works=False, message="no sum"),
)


@pytest.mark.parametrize("mode", MODES)
def test_each_kind_is_a_trace_with_its_own_shape_and_colour(mode):
    yes, what, sign = mark_matrix(MARKS, LOOKS, mode).data
    assert (yes.x, yes.y, yes.marker.symbol) == (("1",), ("b",), "circle")
    assert yes.marker.color == COLORS[mode]["works"]
    assert (what.mode, what.text, what.hovertext) == ("text", ("?",), ("a two",))
    assert (what.showlegend, what.legendgroup) == (False, sign.legendgroup)
    assert sign.name == f'<b style="color:{COLORS[mode]["muted"]}">?</b> what'


def test_a_sign_that_nobody_wrote_is_not_explained():
    marks = {("b", "1"): MARKS["b", "1"]}
    assert [trace.showlegend for trace in mark_matrix(marks, LOOKS).data] == [True, False]


def test_rows_and_columns_keep_their_order():
    figure = mark_matrix(MARKS, LOOKS)
    assert figure.layout.yaxis.categoryarray == ("b", "a")
    assert figure.layout.xaxis.categoryarray == ("1", "2")


def test_a_lit_column_has_a_band_and_a_strange_one_none():
    [band] = mark_matrix(MARKS, LOOKS, lit="2").layout.shapes
    assert (band.x0, band.x1) == (0.5, 1.5)
    assert not mark_matrix(MARKS, LOOKS, lit="3").layout.shapes


def test_a_projector_gets_larger_text():
    small, large = (mark_matrix(MARKS, LOOKS, present=present) for present in (False, True))
    assert large.layout.font.size >= 18 > small.layout.font.size
    assert large.layout.height > small.layout.height


def test_every_cell_of_the_hardware_is_drawn_once():
    *traces, sign = hardware_matrix(HARDWARE, "FP8").data
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
    assert "no: V100, T4, A100" in hardware_alt(HARDWARE, "FP8")
    table = hardware_table(HARDWARE)
    assert table["chip"][0] == "V100, 2017, 7.0"
    assert table["FP8"][:4] == ["no", "no", "no", "matrix units"]
    sources = source_rows(HARDWARE, "FP8")
    assert [sources["source"][n] for n in (0, 9)][1] == "–"
    assert sources["source"][3].endswith(
        "(https://docs.nvidia.com/cuda/cuda-programming-guide/"
        "05-appendices/compute-capabilities.html)"
    )
    assert {len(column) for column in sources.values()} == {len(HARDWARE)}


def test_operations_are_marked_and_refusals_keep_torchs_words():
    works, refused = operation_matrix(ROWS).data
    assert (works.x, refused.x) == (("add",), ("sum",))
    assert refused.hovertext == ("<b>float16</b> · sum<br>no sum",)
    assert operation_alt(ROWS) == "Of 2 operations work: float16 1."
    assert operation_table(ROWS)["torch's own words"] == ["no sum"]


@pytest.mark.parametrize(
    ("dtype", "family"),
    [
        ("float4_e2m1fn_x2", "floats"),
        ("bool", "integers"),
        ("int16", "integers"),
        ("int1", "few"),
        ("uint7", "few"),
        ("complex64", "others"),
        ("bits8", "others"),
        ("qint8", "others"),
    ],
)
def test_every_dtype_has_its_family(dtype, family):
    assert family_of(dtype) == family
