import json

import pytest

from core.train.checkpoint_folder import (
    best_checkpoint,
    checkpoint_path,
    checkpoints,
    keep,
)
from core.train.disk import RunStorageError


@pytest.fixture
def put(tmp_path):
    """Return put(step, loss): a checkpoint file appears and the folder is tidied."""

    def made(step, loss=None):
        path = checkpoint_path(tmp_path, step)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
        keep(tmp_path, path, loss)
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


def test_when_the_note_cannot_be_written_nothing_is_deleted(put, tmp_path, monkeypatch):
    put(1, 3.0)
    put(2)

    def full(*_arguments, **_options):
        raise RunStorageError(28, "Cannot write best.json")

    monkeypatch.setattr("core.train.checkpoint_folder.write_atomically", full)
    with pytest.raises(RunStorageError, match=r"Cannot write best\.json"):
        put(3, 2.0)
    assert steps(tmp_path) == [1, 2, 3]
