import io
import os
import pickle
from pathlib import Path

import pytest
import torch

from core.train.config import OPTIMIZERS, PRECISIONS, SCHEDULES
from core.train.control.orders import Orders
from core.train.run.directory import checkpoints, milestones
from core.train.run.disk import RunStorageError
from core.train.run.store import RunStore
from core.train.worker.checkpoint import load_checkpoint, save_checkpoint, save_milestone
from core.train.worker.observer import Observer

RECIPES = [
    *({"optimizer": name} for name in OPTIMIZERS),
    *({"schedule": name} for name in SCHEDULES[1:]),
    *({"precision": name} for name in PRECISIONS[2:]),
    {"optimizer": "muon", "precision": "fp16"},
    {"optimizer": "muon", "precision": "pure_bf16"},
    {"optimizer": "rmsprop", "precision": "pure_bf16", "accumulation_steps": 2},
    {"dropout": 0.2},
    {"dropout": 0.2, "checkpointing": True, "accumulation_steps": 2},
    {"family": "llama", "num_kv_heads": 1, "dropout": 0.2, "checkpointing": True},
    {"family": "llama", "optimizer": "muon", "precision": "bf16"},
]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: "-".join(map(str, recipe.values())))
def test_a_run_goes_on_bit_for_bit_from_its_checkpoint(make_trainer, tmp_path, recipe):
    straight, first = make_trainer(**recipe), make_trainer(**recipe)
    orders = Orders(last_command=2, multiplier_changes=((8, 0.5),), max_steps_per_second=20.0)

    def results(trainer, steps):
        found = []
        for step in steps:
            trainer.learning_rate_multiplier = 0.5 if step >= 8 else 1.0
            result = trainer.train_step()
            found.append((result.loss, result.grad_norm, result.learning_rate))
        return found

    expected = results(straight, range(1, 11))
    found = results(first, range(1, 6))
    path, num_bytes = save_checkpoint(tmp_path, first, orders)
    torch.manual_seed(99)  # what another process would have drawn
    second = make_trainer(**recipe)
    assert load_checkpoint(path, second) == orders
    # as text, for a recipe that ends in NaN has to do so again
    assert repr(found + results(second, range(6, 11))) == repr(expected)
    assert num_bytes == path.stat().st_size
    if straight.scaler:
        assert second.scaler.state_dict() == straight.scaler.state_dict()


def test_a_half_written_checkpoint_is_not_seen(make_trainer, tmp_path):
    trainer = make_trainer()
    save_checkpoint(tmp_path, trainer)
    (tmp_path / "ckpt" / "step-00000009.tmp").write_bytes(b"half")
    (tmp_path / "ckpt" / "notes.txt").write_text("not a checkpoint")
    assert len(checkpoints(tmp_path)) == 1
    assert checkpoints(tmp_path / "nowhere") == []


def test_a_full_disk_keeps_the_older_checkpoint(make_trainer, tmp_path, fails):
    trainer = make_trainer()
    path, _size = save_checkpoint(tmp_path, trainer)
    before = path.read_bytes()
    trainer.train_step()
    fails("os.fsync", OSError(28, "No space left on device"))
    with pytest.raises(RunStorageError, match=r"step-00000001.pt \(No space left on device\)"):
        save_checkpoint(tmp_path, trainer)
    assert checkpoints(tmp_path) == [path]
    assert path.read_bytes() == before
    assert not list((tmp_path / "ckpt").glob("*.tmp"))


def test_a_full_disk_keeps_the_older_milestone(make_trainer, tmp_path, fails):
    trainer = make_trainer()
    path = save_milestone(tmp_path, trainer)
    before = path.read_bytes()
    trainer.train_step()
    fails("os.fsync", OSError(28, "No space left on device"))
    with pytest.raises(RunStorageError, match=r"step-00000001.pt \(No space left on device\)"):
        save_milestone(tmp_path, trainer)
    assert milestones(tmp_path) == [path]
    assert path.read_bytes() == before
    assert not list((tmp_path / "milestones").glob("*.tmp"))


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
    foreign = io.BytesIO()
    torch.save({"model": {"other": torch.zeros(3)}}, foreign)
    contents = {"pickle": pickle.dumps(Malicious()), "torn": path.read_bytes()[:2000], "empty": b""}
    path.write_bytes(contents.get(kind, foreign.getvalue()))
    with pytest.raises(ValueError, match=r"step-00000000.pt cannot be loaded .*Delete it"):
        load_checkpoint(path, trainer)
    assert not (tmp_path / "it-ran").exists()


def test_a_checkpoint_from_before_a_setting_existed_is_one_of_this_run(make_trainer, tmp_path):
    trainer = make_trainer()
    trainer.train_step()
    path, _size = save_checkpoint(tmp_path, trainer)
    contents = torch.load(path, weights_only=True)
    del contents["config"]["max_seconds"], contents["trained_seconds"]
    torch.save(contents, path)
    fresh = make_trainer()
    load_checkpoint(path, fresh)
    assert (fresh.step, fresh.trained_seconds) == (1, 0.0)


def test_a_checkpoint_holds_all_that_a_worker_needs_to_go_on(make_trainer, tmp_path):
    trainer = make_trainer()
    trainer.train_step()
    orders = Orders(last_command=3, multiplier_changes=((9, 0.5),), max_steps_per_second=20.0)
    path, _size = save_checkpoint(tmp_path, trainer, orders)
    contents = torch.load(path, weights_only=True)
    needed = (
        "format step trained_seconds learning_rate_multiplier orders config model optimizer scaler"
    )
    assert contents.keys() == set(needed.split())
    assert contents["scaler"] is None
    assert load_checkpoint(path, make_trainer()) == orders


def test_a_checkpoint_of_another_run_is_refused(make_trainer, tmp_path):
    path, _size = save_checkpoint(tmp_path, make_trainer(seed=1))
    with pytest.raises(ValueError, match="was made by another program"):
        load_checkpoint(path, make_trainer(seed=2))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="files are not named there")
def test_a_power_cut_finds_either_the_old_checkpoint_or_the_new_one_and_no_later_steps(
    make_trainer, tmp_path, run_directory, make_record, monkeypatch
):
    done = []
    sync, replace_file = os.fsync, type(tmp_path).replace

    def note_sync(number):
        target = Path(f"/proc/self/fd/{number}")
        done.append(("sync", target.resolve().name if target.exists() else "?"))
        sync(number)

    def note_replace(path, target):
        done.append(("place", Path(target).name))
        return replace_file(path, target)

    trainer = make_trainer()
    with RunStore(run_directory) as store:
        store.append_step(make_record(1))
        observer = Observer(trainer, store, sampler=None)
        monkeypatch.setattr(os, "fsync", note_sync)
        monkeypatch.setattr(type(tmp_path), "replace", note_replace)
        assert observer.save(Orders())
    order = [what for what in done if what[0] == "place" or what[1] != "?"]
    assert order[:6] == [
        ("sync", "metrics.bin"),
        ("sync", "events.jsonl"),
        ("sync", "step-00000000.tmp"),
        ("place", "step-00000000.pt"),
        ("sync", "ckpt"),
        ("sync", run_directory.name),
    ]
