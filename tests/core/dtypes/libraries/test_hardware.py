"""The table of chips: complete, sourced, and as NVIDIA's and AMD's own tables have it."""

import re
from typing import get_args

import pytest

from core.dtypes import FORMATS
from core.dtypes.libraries.hardware import COLUMNS, HARDWARE, STATUS_WORDS, Status, column_of

# CUDA Programming Guide, compute capabilities, table 33, typed by hand (TF32 to INT4)
TENSOR_CORES = {
    "7.5": {"FP16", "INT8", "INT4"},
    "8.0": {"FP64", "TF32", "BF16", "FP16", "INT8", "INT4"},
    "8.9": {"TF32", "BF16", "FP16", "FP8", "INT8", "INT4"},
    "9.0": {"FP64", "TF32", "BF16", "FP16", "FP8", "INT8"},
    "10.0": {"FP64", "TF32", "BF16", "FP16", "FP8", "FP6", "FP4", "INT8"},
    "12.0": {"TF32", "BF16", "FP16", "FP8", "FP6", "FP4", "INT8"},
}
# ROCm, data types and precision support, matrix cores, typed by hand
MATRIX_CORES = {
    "CDNA 3": {"FP64", "FP32", "TF32", "BF16", "FP16", "FNUZ", "INT8"},
    # but for TF32, which hipBLASLt makes of BF16 products there (ROCm/hipBLASLt PR #1806)
    "CDNA 4": {"FP64", "FP32", "BF16", "FP16", "FP8", "FP6", "FP4", "INT8"},
}


@pytest.mark.parametrize("chip", HARDWARE, ids=lambda chip: chip.name)
def test_every_cell_has_a_status_and_a_dated_source_unless_unknown(chip):
    assert list(chip.cells) == list(COLUMNS)
    for column, cell in chip.cells.items():
        assert cell.status in STATUS_WORDS
        if cell.status == "unknown":
            assert cell.source is None, column
            continue
        assert re.search(r"20\d\d", cell.source.date), column
        assert cell.source.address.startswith("https://") or "tried" in cell.source.title


@pytest.mark.parametrize(
    ("cores", "apart"), [(TENSOR_CORES, {"MX", "NVFP4"}), (MATRIX_CORES, {"MX"})]
)
def test_the_cores_are_those_of_nvidias_and_amds_tables(cores, apart):
    for chip in HARDWARE:
        if chip.architecture in cores:
            found = {name for name in COLUMNS if chip.status(name) == "matrix"} - apart
            assert found == cores[chip.architecture], chip.name


def test_every_status_has_words_and_every_column_is_about_formats_that_exist():
    assert set(STATUS_WORDS) == set(get_args(Status))
    named = [name for formats in COLUMNS.values() for name in formats]
    assert len(named) == len(set(named))
    assert set(named) <= set(FORMATS)
    assert column_of("float8_e4m3fn") == "FP8"
    assert column_of("float8_e3m4") is None
