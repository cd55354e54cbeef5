import json
import os
import re
from pathlib import Path

import pytest

from core.train.run.directory import (
    RUN_NAME,
    best_checkpoint,
    checkpoint_path,
    checkpoints,
    is_run_name,
    keep_checkpoint,
    new_run_name,
    open_run_directory,
    runs_directory,
)
from core.train.run.disk import RunStorageError

MALICIOUS = [
    "",
    ".",
    "..",
    "../20260102t030405z-a-00ff",
    "20260102t030405z-a-00ff/..",
    "20260102t030405z-../../etc-00ff",
    "/etc",
    "C:\\Windows",
    "20260102t030405z-a\\b-00ff",
    "20260102t030405z-a-00ff\n",
    "20260102t030405z-a-00ff\0",
    "20260102t030405z-A-00ff",
    "20260102t030405z--00f",
    "20260102t030405z-a-00fg",
    "20260102t030405z-" + "a" * 41 + "-00ff",
    "2026０102t030405z-a-00ff",
    "20260102t030405z-长-00ff",
    "x" * 100_000,
]


def test_a_name_that_no_run_can_have_is_refused_before_the_disk_is_touched(tmp_path):
    for name in MALICIOUS:
        with pytest.raises(ValueError, match=r"is not the name of a run\. Names look like 2026"):
            open_run_directory(tmp_path, name)


def test_a_run_that_is_not_there_is_named_in_the_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no run 20260102t030405z-a-00ff here; .*deleted"):
        open_run_directory(tmp_path, "20260102t030405z-a-00ff")


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_a_link_that_bears_a_runs_name_is_not_followed(tmp_path, run_directory):
    name = "20260102t030405z-link-00ff"
    (run_directory.parent / name).symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(FileNotFoundError, match="There is no run"):
        open_run_directory(run_directory.parent, name)


def test_a_new_name_is_always_one_that_can_be_opened():
    titles = ["One minute", "", "长长的名字", "../../etc/passwd", "a" * 200, "-", "é" * 50, "A\0\n"]
    for title in titles:
        name = new_run_name(title, 1_767_323_045.7)
        assert is_run_name(name), name
        assert RUN_NAME.fullmatch(name), name
        assert re.match("20260102t030405z-", name), name


def test_runs_lie_where_the_environment_says_else_beside_the_app(monkeypatch, tmp_path, root):
    monkeypatch.setenv("B2G_RUNS_DIR", str(tmp_path / "elsewhere"))
    assert runs_directory() == (tmp_path / "elsewhere").resolve()
    monkeypatch.delenv("B2G_RUNS_DIR")
    assert runs_directory() == Path(root) / "runs"


@pytest.fixture
def put(tmp_path):
    """Return put(step, loss): a checkpoint file appears and the folder is tidied."""

    def made(step, loss=None):
        path = checkpoint_path(tmp_path, step)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
        keep_checkpoint(tmp_path, path, loss)
        return path

    return made


def steps(directory):
    return [int(path.stem[5:]) for path in checkpoints(directory)]


def test_the_newest_two_and_the_best_are_kept(put, tmp_path):
    for step, loss in enumerate([3.0, 1.5, 2.0, None, 2.5], start=1):
        put(step, loss)
    assert steps(tmp_path) == [2, 4, 5]
    assert best_checkpoint(tmp_path) == (checkpoint_path(tmp_path, 2), 1.5)
    put(6, 1.0)
    assert steps(tmp_path) == [5, 6]


def test_without_any_evaluation_there_is_no_best(put, tmp_path):
    for step in range(1, 5):
        put(step)
    assert (steps(tmp_path), best_checkpoint(tmp_path)) == ([3, 4], None)


@pytest.mark.parametrize(
    "note",
    [
        "{",
        "[]",
        '{"file": "step-00000001.pt"}',
        '{"file": "../../run.json", "validation_loss": 1.0}',
        '{"file": "step-00000009.pt", "validation_loss": 1.0}',
        '{"file": "step-00000001.pt", "validation_loss": "low"}',
    ],
)
def test_a_damaged_note_is_no_note(put, tmp_path, note):
    path = put(1, 2.0)
    path.with_name("best.json").write_text(note, encoding="utf-8")
    assert best_checkpoint(tmp_path) is None
    put(2, 5.0)
    assert json.loads(path.with_name("best.json").read_text())["file"] == "step-00000002.pt"


def test_when_the_note_cannot_be_written_nothing_is_deleted(put, tmp_path, fails):
    put(1, 3.0)
    put(2)
    fails(
        "core.train.run.directory.write_atomically", RunStorageError(28, "Cannot write best.json")
    )
    with pytest.raises(RunStorageError, match=r"Cannot write best\.json"):
        put(3, 2.0)
    assert steps(tmp_path) == [1, 2, 3]
