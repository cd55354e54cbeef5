"""A matrix of a checkpoint, read without loading torch into the reader's process."""

import subprocess

import numpy as np
import pytest

from core.train.checkpoint import save_checkpoint
from core.train.weights import MATRICES, newest_checkpoint, read_weight, runs_with_weights


@pytest.mark.slow
def test_a_matrix_of_the_newest_checkpoint_is_the_models_own(make_run, make_trainer):
    trainer = make_trainer()
    run = make_run(config={"num_layers": trainer.config.num_layers})
    save_checkpoint(run, trainer)

    last = trainer.config.num_layers - 1
    expected = trainer.model.blocks[last].feed_forward.out.weight.detach().double().numpy()

    assert np.array_equal(read_weight(run, "out"), expected)


def test_every_matrix_exists_in_the_model(make_trainer):
    trainer = make_trainer()
    names = set(trainer.model.state_dict())
    last = trainer.config.num_layers - 1

    assert {name.format(last=last) for _what, name in MATRICES.values()} <= names


def test_a_run_without_a_checkpoint_is_refused_in_a_sentence(make_run):
    with pytest.raises(ValueError, match=r"has no checkpoint yet; wait for its first one\."):
        newest_checkpoint(make_run())


def test_only_runs_with_a_checkpoint_are_offered(make_run, make_trainer):
    old, new = make_run(), make_run("20260103t030405z-one-minute-00ff")
    assert runs_with_weights(old.parent) == ()

    save_checkpoint(old, make_trainer())

    assert runs_with_weights(new.parent) == (old.name,)
    assert runs_with_weights(new.parent / "nowhere") == ()


@pytest.mark.slow
def test_a_damaged_checkpoint_is_refused_with_the_reason(make_run):
    run = make_run()
    (run / "ckpt").mkdir()
    (run / "ckpt" / "step-00000001.pt").write_bytes(b"no checkpoint")

    with pytest.raises(ValueError, match=r"step-00000001\.pt cannot be read \(.*Error"):
        read_weight(run, "tokens")


def test_a_child_that_never_answers_is_given_up(make_run, monkeypatch):
    run = make_run()
    (run / "ckpt").mkdir()
    (run / "ckpt" / "step-00000001.pt").write_bytes(b"")

    def never(command, **options):
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr("core.train.child_answer.subprocess.run", never)

    with pytest.raises(ValueError, match=r"was not read within 120 s"):
        read_weight(run, "tokens")
