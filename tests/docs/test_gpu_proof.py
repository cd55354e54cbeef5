"""`make gpu-proof` on whatever machine the tests run on: its rows of a CPU are proved here."""

import json
import subprocess
import venv
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks import gpu_proof
from benchmarks.gpu_proof import NO_GPU, Row, markdown, prove
from core.train.worker.memory_snapshot import MAX_EVENTS
from tests.core.budget.diagnosis.made_snapshot import MadeAllocator, write
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
    "a memory snapshot's peak, beside the allocator's",
    "32 steps wait for nothing (sync debug mode: error)",
    "a run on a full GPU",
    "two GPUs",
    "speed of 10.7M, compile",
    "speed of 10.7M, compile, CUDA graphs",
    "speed of 124M, compile",
    "speed of 124M, compile, CUDA graphs",
}


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory):
    """A Python that has torch, numpy, psutil and filelock, what these require, and no more."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in required_by({"torch", "numpy", "psutil", "filelock"}):
        package = metadata.distribution(name)
        for top in {file.parts[0] for file in package.files} - {"..", "__pycache__"}:
            (site / top).symlink_to(package.locate_file(top))
    return folder / "bin" / "python"


def required_by(names):
    """The packages of these names and what they require, as far as it is installed."""
    installed = {canonicalize_name(each.metadata["Name"]) for each in metadata.distributions()}
    found, waiting = set(), set(names)
    while waiting:
        found |= waiting
        needs = [Requirement(line) for name in waiting for line in metadata.requires(name) or ()]
        wanted = [need for need in needs if not need.marker or need.marker.evaluate({"extra": ""})]
        waiting = {canonicalize_name(need.name) for need in wanted} & installed - found
    return found


@pytest.mark.slow
def test_on_a_bare_machine_without_a_gpu_its_rows_say_so_and_the_others_are_right(
    bare_python, root, tmp_path
):
    if gpu_proof.has_gpu():
        pytest.skip("there is a GPU: `make gpu-proof` proves it")
    # Whatever else this machine does: how long it takes is not what is tested.
    command = [bare_python, "benchmarks/gpu_proof.py", "--out", tmp_path, "--seconds", "1500"]
    subprocess.run(command, cwd=root, check=False, capture_output=True)
    written = json.loads((tmp_path / "gpu_proof.json").read_text())["rows"]
    rows = {row["what"]: row for row in written}
    assert {what for what, row in rows.items() if row["found"] == NO_GPU} == ROWS_OF_A_GPU
    assert {what for what, row in rows.items() if row["is_right"]} >= ROWS_OF_A_CPU
    assert [row for row in rows.values() if row["is_right"] is False] == []


def test_what_is_not_done_in_time_is_a_row_and_the_rows_before_it_are_written(
    bare_python, root, tmp_path
):
    command = [bare_python, "benchmarks/gpu_proof.py", "--out", tmp_path, "--seconds", "6"]
    ended = subprocess.run(command, cwd=root, check=False, capture_output=True)
    last = json.loads((tmp_path / "gpu_proof.json").read_text())["rows"][-1]
    assert ended.returncode == 1
    assert last["found"] == "not run: the eight minutes are over"


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
    assert rows[-1].what.startswith("speed of 124M")


def test_the_table_says_what_is_not_as_it_should_be():
    table = markdown([Row(what="a", found="1", is_right=False), Row(what="b", found="2")])
    assert table.splitlines()[2:] == ["| a | 1 | **no** |", "| b | 2 |  |"]


def test_a_memory_snapshot_of_a_step_is_written_read_and_held_against_the_allocator(
    monkeypatch, tmp_path
):
    """The allocator is a made one: what torch is asked for, and what becomes of its file."""
    made, asked, path = MadeAllocator(), [], tmp_path / "snapshot.pickle"

    class Trainer:
        def train_step(self):
            made.release(made.alloc(3000, "forward"))

    memory = SimpleNamespace(
        _record_memory_history=lambda **options: asked.append(options),
        _dump_snapshot=lambda name: write(Path(name), made.dump()),
    )
    monkeypatch.setattr(gpu_proof, "has_gpu", lambda: True)
    monkeypatch.setattr(gpu_proof, "make_trainer", lambda *_arguments: Trainer())
    monkeypatch.setattr(torch.cuda, "memory", memory)
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda: None)
    for peak, is_right in ((3000, True), (3512, False)):
        stats = {"requested_bytes.all.peak": peak}
        monkeypatch.setattr(torch.cuda, "memory_stats", lambda stats=stats: stats)
        (row,) = gpu_proof.memory_snapshot(path)
        assert row.is_right is is_right
        assert path.stat().st_size > 0
    assert asked == [{"max_entries": MAX_EVENTS}, {"enabled": None}] * 2
