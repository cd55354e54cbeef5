import os
import pickle

import pytest
import torch

from core.train.checkpoint import checkpoints, load_checkpoint, save_checkpoint
from core.train.disk import RunStorageError


def test_a_run_goes_on_bit_for_bit_from_its_checkpoint(make_trainer, tmp_path):
    straight, first = make_trainer(), make_trainer()
    expected = [straight.train_step().loss for _step in range(10)]
    losses = [first.train_step().loss for _step in range(5)]
    first.learning_rate_multiplier = 1.0
    path, num_bytes = save_checkpoint(tmp_path, first)
    second = make_trainer()
    load_checkpoint(path, second)
    assert losses + [second.train_step().loss for _step in range(5)] == expected
    assert num_bytes == path.stat().st_size


def test_the_multiplier_is_part_of_a_checkpoint(make_trainer, tmp_path):
    trainer, again = make_trainer(), make_trainer()
    trainer.train_step()
    trainer.learning_rate_multiplier = 0.25
    load_checkpoint(save_checkpoint(tmp_path, trainer)[0], again)
    assert (again.step, again.learning_rate_multiplier) == (1, 0.25)


def test_only_the_newest_two_are_kept(make_trainer, tmp_path):
    trainer = make_trainer()
    for _step in range(4):
        trainer.train_step()
        save_checkpoint(tmp_path, trainer)
    assert [path.name for path in checkpoints(tmp_path)] == ["step-00000003.pt", "step-00000004.pt"]


def test_a_half_written_checkpoint_is_not_seen(make_trainer, tmp_path):
    trainer = make_trainer()
    save_checkpoint(tmp_path, trainer)
    (tmp_path / "ckpt" / "step-00000009.tmp").write_bytes(b"half")
    (tmp_path / "ckpt" / "notes.txt").write_text("not a checkpoint")
    assert len(checkpoints(tmp_path)) == 1
    assert checkpoints(tmp_path / "nowhere") == []


def test_a_full_disk_keeps_the_older_checkpoint(make_trainer, tmp_path, monkeypatch):
    trainer = make_trainer()
    path, _size = save_checkpoint(tmp_path, trainer)
    before = path.read_bytes()
    trainer.train_step()

    def full(_file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunStorageError, match=r"step-00000001.pt \(No space left on device\)"):
        save_checkpoint(tmp_path, trainer)
    assert checkpoints(tmp_path) == [path]
    assert path.read_bytes() == before
    assert not list((tmp_path / "ckpt").glob("*.tmp"))


class Malicious:
    def __reduce__(self):
        return (os.mkdir, ("it-ran",))


@pytest.mark.parametrize("kind", ["pickle", "torn", "empty", "another"])
def test_a_file_that_is_no_checkpoint_is_refused_and_runs_no_code(
    make_trainer, tmp_path, monkeypatch, kind
):
    monkeypatch.chdir(tmp_path)
    trainer = make_trainer()
    path, _size = save_checkpoint(tmp_path, trainer)
    if kind == "pickle":
        path.write_bytes(pickle.dumps(Malicious()))
    elif kind == "torn":
        path.write_bytes(path.read_bytes()[:2000])
    elif kind == "empty":
        path.write_bytes(b"")
    else:
        torch.save({"model": {"other": torch.zeros(3)}}, path)
    with pytest.raises(ValueError, match=r"step-00000000.pt cannot be loaded .*Delete it"):
        load_checkpoint(path, trainer)
    assert not (tmp_path / "it-ran").exists()
