"""`make gpu-proof` on whatever machine the tests run on: its rows of a CPU are proved here."""

import subprocess
import sys

import pytest

from benchmarks import gpu_proof
from benchmarks.gpu_proof import NO_GPU, Row, markdown, prove
from tests.made_probe import PROBE

ROWS_OF_A_CPU = {
    "memory of 110k: weights",
    "memory of 110k: activations",
    "losses of a resumed run and an uninterrupted one",
    "a run whose GPU has vanished",
}
ROWS_OF_A_GPU = {
    "driver and cards",
    "tests marked gpu",
    "32 steps wait for nothing (sync debug mode: error)",
    "a run on a full GPU",
    "two GPUs",
}


@pytest.mark.slow
def test_without_a_gpu_its_rows_say_so_and_the_others_are_as_they_should_be(tmp_path):
    if gpu_proof.has_gpu():
        pytest.skip("there is a GPU: `make gpu-proof` proves it")
    rows = {row.what: row for row in prove(None, tmp_path)}
    assert {what for what, row in rows.items() if row.found == NO_GPU} == ROWS_OF_A_GPU
    assert {what for what, row in rows.items() if row.is_right} >= ROWS_OF_A_CPU
    assert [row for row in rows.values() if row.is_right is False] == []


def test_a_part_that_breaks_off_is_a_row_and_the_others_come(monkeypatch, tmp_path):
    def broken(*_arguments):
        raise RuntimeError("the fan stands still")
        yield

    for part in ("speeds", "memory", "commands", "resumed", "vanished"):
        monkeypatch.setattr(gpu_proof, part, broken)
    monkeypatch.setattr(gpu_proof, "has_gpu", lambda: False)
    monkeypatch.setattr(gpu_proof, "probe_here", lambda: PROBE)
    rows = list(prove(None, tmp_path))
    broken_off = [row.found for row in rows if row.is_right is False]
    assert broken_off == ["RuntimeError: the fan stands still"] * 5
    assert rows[-1].what.startswith("nanoGPT")


def test_the_table_says_what_is_not_as_it_should_be():
    table = markdown([Row(what="a", found="1", is_right=False), Row(what="b", found="2")])
    assert table.splitlines()[2:] == ["| a | 1 | **no** |", "| b | 2 |  |"]


def test_it_needs_no_streamlit(root):
    without = "import sys; sys.modules['streamlit'] = None; import benchmarks.gpu_proof"
    subprocess.run([sys.executable, "-c", without], cwd=root, check=True)
