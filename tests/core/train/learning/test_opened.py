"""Models to look into: every source, every refusal as a sentence."""

import pytest
import torch

from core.models.gpt import GPT
from core.train.learning import opened as room
from core.train.learning.opened import (
    open_fresh,
    open_run,
    open_shipped,
    run_steps,
    shipped_steps,
)
from core.train.run.directory import CHECKPOINT_FORMAT, checkpoint_path, milestone_path
from core.train.worker.checkpoint import save_checkpoint, save_milestone


@pytest.fixture
def run_of_three(make_trainer, prepared_run):
    """A run with milestones of steps 0 and 1 and checkpoints of 1 and 3, and its trainer."""
    trainer, run = make_trainer(), prepared_run()
    save_milestone(run, trainer)
    trainer.train_step()
    save_milestone(run, trainer)
    save_checkpoint(run, trainer)
    trainer.train_step()
    trainer.train_step()
    save_checkpoint(run, trainer)
    return run, trainer


def test_a_run_is_opened_at_its_milestones_and_checkpoints(run_of_three):
    run, trainer = run_of_three
    assert run_steps(run) == (0, 1, 3)
    opened = open_run(run, 3)
    assert (opened.kind, opened.step, opened.steps) == ("run", 3, (0, 1, 3))
    assert opened.model.training is False
    for name, weight in trainer.model.state_dict().items():
        assert torch.equal(opened.model.state_dict()[name], weight), name


def test_a_milestone_holds_the_weights_of_its_step_and_nothing_to_go_on_with(run_of_three):
    run, _trainer = run_of_three
    contents = torch.load(milestone_path(run, 1), weights_only=True)
    assert contents.keys() == {"format", "step", "config", "model"}
    checkpoint = torch.load(checkpoint_path(run, 1), weights_only=True)
    for name, weight in checkpoint["model"].items():
        assert torch.equal(contents["model"][name], weight), name
    assert milestone_path(run, 1).stat().st_size < checkpoint_path(run, 1).stat().st_size / 2
    assert not torch.equal(
        open_run(run, 0).model.tokens.weight, open_run(run, 1).model.tokens.weight
    )


def test_a_run_of_an_older_version_has_its_checkpoints_alone(make_trainer, prepared_run):
    run, trainer = prepared_run(), make_trainer()
    trainer.train_step()
    save_checkpoint(run, trainer)
    assert run_steps(run) == (1,)
    assert open_run(run, 1).step == 1


def test_a_run_without_any_weights_says_so(prepared_run):
    run = prepared_run()
    assert run_steps(run) == ()
    with pytest.raises(ValueError, match="has no checkpoint yet; wait for its first one"):
        open_run(run, 0)


def test_a_step_that_was_not_kept_is_refused_with_those_that_were(run_of_three):
    with pytest.raises(ValueError, match=r"step 2 were not kept; choose one of 0, 1, 3\."):
        open_run(run_of_three[0], 2)
    with pytest.raises(ValueError, match="step 5 were not kept; choose one of 0"):
        open_shipped(5)


@pytest.mark.parametrize("content", [b"", b"no file of torch", None])
def test_a_torn_file_is_refused_in_a_sentence(run_of_three, content):
    run, _trainer = run_of_three
    path = milestone_path(run, 0)
    path.write_bytes(path.read_bytes()[:3000] if content is None else content)
    with pytest.raises(ValueError, match=r"step-00000000\.pt cannot be read \(\w+\); it is dama"):
        open_run(run, 0)
    assert open_run(run, 3).step == 3


def rewrite(path, **changes):
    contents = torch.load(path, weights_only=True)
    torch.save(contents | changes, path)


def test_a_file_of_another_version_is_refused_in_a_sentence(run_of_three):
    run, _trainer = run_of_three
    rewrite(milestone_path(run, 0), format=CHECKPOINT_FORMAT - 1)
    with pytest.raises(ValueError, match="has format 0; this version of the app reads format 1"):
        open_run(run, 0)


def test_weights_of_another_vocabulary_are_refused_in_a_sentence(run_of_three, make_trainer):
    run, _trainer = run_of_three
    shape = make_trainer().config.shape(7)
    rewrite(milestone_path(run, 0), model=GPT(shape).state_dict())
    with pytest.raises(ValueError, match="was trained on 7 different tokens, the text of its run"):
        open_run(run, 0)


def test_a_model_that_is_too_large_is_refused_before_its_file_is_read(run_of_three, monkeypatch):
    run, trainer = run_of_three
    num_params = sum(weight.numel() for weight in trainer.model.parameters())
    monkeypatch.setattr(room, "MAX_PARAMETERS", num_params)
    assert open_run(run, 0).step == 0
    monkeypatch.setattr(room, "MAX_PARAMETERS", num_params - 1)
    monkeypatch.setattr(room, "load_trained", None)  # calling it would be an error
    with pytest.raises(ValueError, match=r"parameters; a page opens at most \d"):
        open_run(run, 0)


def test_characters_outside_of_the_vocabulary_are_named():
    opened = open_shipped(0)
    ids = opened.encode("The list")
    assert opened.tokenizer.decode(ids) == "The list"
    with pytest.raises(ValueError, match="never seen '词' '元': its vocabulary"):
        opened.encode("one 词元词元")
    with pytest.raises(ValueError, match="'一' '二' '三' '四' '五' '六' '七' '八' …:"):
        opened.encode("一二三四五六七八九十")


def test_a_fresh_model_has_the_same_shape_and_has_learned_nothing():
    like = open_shipped(shipped_steps()[-1])
    fresh, again, other = open_fresh(like), open_fresh(like), open_fresh(like, seed=1)
    assert (fresh.kind, fresh.step, fresh.steps) == ("fresh", 0, (0,))
    assert fresh.model.shape == like.model.shape
    assert torch.equal(fresh.model.tokens.weight, again.model.tokens.weight)
    assert not torch.equal(fresh.model.tokens.weight, other.model.tokens.weight)
    assert fresh.model.tokens.weight.std().item() == pytest.approx(0.02, rel=0.05)
    assert open_fresh(like, init="normal").model.tokens.weight.std().item() == pytest.approx(
        1, rel=0.05
    )
    with pytest.raises(ValueError, match="no initialisation 'zeros'; choose gpt2, normal"):
        open_fresh(like, init="zeros")
