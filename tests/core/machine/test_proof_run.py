"""The proof in a child process, as the page's button starts it."""

import json
import subprocess
import sys

import pytest

from core.dtypes.libraries.proof_row import ProofRow
from core.machine import proof_run

LINE = {
    "format": "int8",
    "oracle": "",
    "direction": "back",
    "num_inputs": 256,
    "represents": 256,
    "num_mismatches": 0,
    "reasons": [],
}


def test_rows_are_told_as_they_come(monkeypatch):
    lines = iter([json.dumps(LINE), json.dumps({**LINE, "format": "uint8"})])
    monkeypatch.setattr(proof_run, "lines_of", lambda *_args, **_options: lines)
    told = []
    rows = proof_run.run_proof(told.append)
    assert [row.format for row in told] == ["int8", "uint8"]
    assert rows == tuple(told)
    assert all(isinstance(row, ProofRow) for row in rows)


@pytest.mark.slow
def test_the_whole_proof_holds_and_the_server_process_holds_no_torch(root):
    program = (
        "import sys; from core.machine.proof_run import run_proof; rows = run_proof();"
        "print(len(rows), all(row.holds for row in rows), 'torch' in sys.modules)"
    )
    command = [sys.executable, "-c", program]
    child = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    num_rows, holds, has_torch = child.stdout.split()
    assert (int(num_rows) > 80, holds, has_torch) == (True, "True", "False")
