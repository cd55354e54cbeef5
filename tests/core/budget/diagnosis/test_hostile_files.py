"""Whatever is brought costs a sentence: no traceback, no code that runs, no memory without end."""

import json
import os
import subprocess
import sys

import pytest

from tests.core.budget.diagnosis.hostile_files import CANARY


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell how much memory it took")
@pytest.mark.parametrize(
    ("what", "number", "most", "ends"),
    [
        ("brought", 1700, 300, {"UnknownError", "OutOfMemory", "Log", "Brought", "MeasuredPeak"}),
        ("snapshots", 300, 1536, {"globals", "broken", "fields", "memory", "Snapshot"}),
    ],
)
def test_two_thousand_damaged_files_cost_a_sentence_each(root, tmp_path, what, number, most, ends):
    module = "tests.core.budget.diagnosis.hostile_files"
    child = subprocess.run(
        [sys.executable, "-m", module, what, str(number), "20261128"], cwd=tmp_path, check=True,
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(root)},
    )  # fmt: skip
    told = json.loads(child.stdout)
    assert told["faults"] == []
    assert sum(told["ends"].values()) == number
    assert told["ends"].keys() >= ends
    assert told["megabytes"] < most
    assert {path.name for path in tmp_path.iterdir()} <= {"snapshot.pickle"}, CANARY
