"""What the installed torch and ml_dtypes do, asked here, against what was measured and written."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
import torch

from core.dtypes import FORMATS
from core.dtypes.libraries.differences import (
    CASES,
    QUANTITIES,
    depends_on_length,
    difference_of,
    differs,
    finfo_rows,
    reader_values,
)
from core.dtypes.libraries.library import (
    cast_rows,
    info_rows,
    ml_cast,
    reader_pairs,
    telling_pairs,
    torch_cast,
)
from core.dtypes.libraries.library_records import CastRow, report_from_json


@pytest.fixture(scope="module")
def casts():
    return {(row.format, row.case): row for row in cast_rows(telling_pairs())}


def test_every_float_of_at_most_16_bits_is_cast_to_and_every_telling_number_has_words(casts):
    assert {name for name, _ in casts} == {
        name for name, fmt in FORMATS.items() if fmt.bits <= 16 and name.startswith(("fl", "bf"))
    }
    assert {case for _, case in casts} <= set(CASES)
    assert {telling.case for telling in reader_values(465.0)} == {"reader"}


def test_e4m3fn_saturates_in_this_torch_and_becomes_nan_in_ml_dtypes(casts):
    row = casts["float8_e4m3fn", "over_tie"]
    assert row.value == pytest.approx(464, abs=1e-4)
    assert row.torch == 448, "torch went back to NaN: its DIFFERENCES row has to say so"
    assert math.isnan(row.ml_dtypes)
    assert math.isnan(row.ours)
    assert casts["float8_e4m3fn", "infinity"].torch == 448
    assert casts["float8_e4m3fn", "tie"].torch == casts["float8_e4m3fn", "tie"].ours == 448


def test_a_float64_is_rounded_twice_by_torch(casts):
    row = casts["float16", "double_rounding"]
    assert row.source == "float64"
    assert (row.torch, row.ours, row.ml_dtypes) == (1.0, 1 + 2.0**-10, 1 + 2.0**-10)
    assert "rounds twice" in difference_of(row, "torch").reason
    assert difference_of(row, "ml_dtypes") is None


def test_the_bits_of_nan_are_not_the_same_for_one_number_as_for_many(casts):
    row = casts["bfloat16", "nan_float64"]
    assert math.isnan(row.torch)
    assert depends_on_length(row), "torch writes one NaN now: its caption has to say so"
    assert (row.torch_code, row.torch_code_long) == (0x7FC0, 0xFFFF)
    others = [row for row in casts.values() if row.case != "nan_float64"]
    assert not any(depends_on_length(row) for row in others)


@pytest.mark.parametrize("library", ["torch", "ml_dtypes"])
def test_every_difference_on_this_machine_has_a_reason(casts, library):
    different = [row for row in casts.values() if differs(row, library)]
    assert len(different) > 5
    unexplained = [row for row in different if difference_of(row, library) is None]
    assert unexplained == []


def test_reasons_fit_what_happened(casts):
    expected = {
        ("float8_e8m0fnu", "minus_one", "torch"): "sign is dropped",
        ("float8_e8m0fnu", "zero", "ml_dtypes"): "Zero becomes NaN",
        ("float8_e8m0fnu", "between_scales", "torch"): "rounded up to 2^-126",
        ("float8_e8m0fnu", "between_scales", "ml_dtypes"): "rounded up to 2^-126",
        ("float4_e2m1fn", "nan_float64", "ml_dtypes"): "has no NaN",
        ("float8_e4m3fn", "minus_infinity", "torch"): "saturates",
    }
    for (name, case, library), words in expected.items():
        found = difference_of(casts[name, case], library)
        assert words in found.reason, (name, case)
        assert found.source


def test_a_format_that_torch_lacks_is_cast_by_ml_dtypes_alone(casts):
    row = casts["float6_e2m3fn", "far"]
    assert (row.torch, row.torch_code, row.torch_code_long) == (None, None, None)
    assert row.ml_dtypes == 7.5
    assert not differs(row, "torch")
    assert torch_cast(1.0, "float32", "float6_e2m3fn", 1) is None
    assert ml_cast(np.ones(1), "tf32") is None


def test_a_difference_that_nobody_explains_stays_unexplained():
    row = CastRow(
        format="float16", case="reader", source="float32", value=1.0, ours=1.0,
        torch=2.0, torch_code=0, torch_code_long=0, ml_dtypes=1.0,
    )  # fmt: skip
    assert differs(row, "torch")
    assert difference_of(row, "torch") is None


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("nan", [("float32", math.nan)]),
        ("465", [("float32", 465.0)]),
        ("0.1", [("float32", float(np.float32(0.1))), ("float64", 0.1)]),
        ("1e300", [("float32", math.inf), ("float64", 1e300)]),
        ("-inf", [("float32", -math.inf)]),
        ("2^-20000", [("float32", 0.0)]),
    ],
)
def test_the_readers_number_comes_as_float32_and_if_need_be_as_float64(text, values):
    pairs = [telling for fmt, telling in reader_pairs(text) if fmt.name == "float16"]
    assert repr([(telling.source, telling.value) for telling in pairs]) == repr(values)


def test_a_reader_who_writes_no_number_is_told():
    with pytest.raises(ValueError, match="“seven” is not a number"):
        reader_pairs("seven")


def test_finfo_of_torch_is_right_but_for_the_known_rows_and_keeps_torchs_own_words():
    rows = finfo_rows(info_rows())
    wrong = {(row.dtype, row.quantity) for row in rows if not row.agrees and row.torch is not None}
    assert wrong == {("float8_e5m2fnuz", "eps")}
    assert all(row.reason for row in rows if not row.agrees)
    assert all(not row.reason for row in rows if row.agrees)
    assert {row.quantity for row in rows} == set(QUANTITIES)
    missing = {row.reason for row in rows if row.quantity == "smallest_subnormal"}
    assert missing == {"torch.finfo has no such field"}
    by_name = {(row.dtype, row.quantity): row for row in rows}
    assert by_name["float16", "max"].torch == 65504


@pytest.mark.slow
def test_the_program_prints_a_report_that_can_be_read_back(root):
    command = [sys.executable, "-W", "error", "-m", "core.dtypes.libraries.library"]
    child = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert child.stderr == ""
    report = report_from_json(json.loads(child.stdout))
    assert report.torch == torch.__version__
    assert report.devices[0] == "cpu"
    assert {row.device for row in report.operations} == set(report.devices)
    assert len(report.casts) == len(telling_pairs())


def test_what_is_no_report_is_refused():
    with pytest.raises(ValueError, match="this is not what the libraries were asked"):
        report_from_json({"torch": "2"})
