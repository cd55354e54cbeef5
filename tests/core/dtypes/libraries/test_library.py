"""What the installed torch does, asked here, against what was measured and written."""

import json
import math
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import torch

from core.dtypes.libraries.finfo import QUANTITIES, finfo_rows
from core.dtypes.libraries.library import info_rows
from core.dtypes.libraries.library_records import report_from_json


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


def test_libraries_differ_as_the_reading_of_your_torch_says():
    beyond = np.float32(465)
    assert torch.tensor(beyond).to(torch.float8_e4m3fn).item() == 448, "torch no longer saturates"
    assert math.isnan(beyond.astype(ml_dtypes.float8_e4m3fn))
    over_a_tie = 1 + 2.0**-8 + 2.0**-40  # a float32 before it drops the 2^-40
    assert torch.tensor(over_a_tie, dtype=torch.float64).to(torch.bfloat16).item() == 1
    assert float(np.float64(over_a_tie).astype(ml_dtypes.bfloat16)) == 1


@pytest.mark.slow
def test_the_program_prints_a_report_that_can_be_read_back(root):
    command = [sys.executable, "-W", "error", "-m", "core.dtypes.libraries.library"]
    child = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert child.stderr == ""
    report = report_from_json(json.loads(child.stdout))
    assert report.torch == torch.__version__
    assert report.devices[0] == "cpu"
    assert {row.device for row in report.operations} == set(report.devices)


def test_what_is_no_report_is_refused():
    with pytest.raises(ValueError, match="this is not what torch was asked"):
        report_from_json({"torch": "2"})
