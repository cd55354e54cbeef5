"""A tensor of 64 MiB, put where each category should find it; and the closed forms as oracle."""

from unittest.mock import Mock

import pytest
import torch

from core.budget.by_hand.gpt import training_memory
from core.train.learning.memory_watch import MemoryWatch
from core.units import MIB

BIG = 64 * MIB


def watched_step(trainer):
    held = (trainer.training, trainer.validation)
    watch = MemoryWatch(trainer.model, trainer.optimizer, held)
    trainer.train_step(watch)
    return watch.result


@pytest.fixture
def trainer(make_trainer):
    trainer = make_trainer()
    trainer.train_step()
    return trainer


@pytest.mark.parametrize("precision", ["fp32", "bf16", "bf16_fp32_attention", "fp16"])
@pytest.mark.parametrize("passes", [1, 2])
def test_categories_are_what_the_closed_forms_predict(make_trainer, precision, passes):
    trainer = make_trainer(precision=precision, accumulation_steps=passes)
    first, second = watched_step(trainer), watched_step(trainer)
    shape = trainer.model.shape
    predicted = training_memory(shape, trainer.config.batch_size, precision)
    for measured in (first, second):
        for part in predicted.children:
            assert getattr(measured, part.name) == part.num_bytes, part.name


def test_watching_changes_no_number(make_trainer):
    plain, watched = make_trainer(), make_trainer()
    for _step in range(3):
        one = plain.train_step()
        watch = MemoryWatch(watched.model, watched.optimizer)
        two = watched.train_step(watch)
        assert (one.loss, one.grad_norm) == (two.loss, two.grad_norm)


def test_64_mib_saved_for_the_backward_pass_are_activations(trainer):
    before = watched_step(trainer)

    def save_a_big_one(_module, _inputs, output):
        big = torch.ones(BIG // 4)
        return output + 0 * (big * output.sum()).mean()

    trainer.model.blocks[0].register_forward_hook(save_a_big_one)
    after = watched_step(trainer)
    assert BIG <= after.activations - before.activations <= BIG + 64
    assert after.weights == before.weights


def test_64_mib_held_during_the_step_are_other(trainer):
    before = watched_step(trainer)
    held = []
    trainer.model.blocks[0].register_forward_hook(
        lambda _module, _inputs, _output: held.append(torch.empty(BIG, dtype=torch.uint8))
    )
    after = watched_step(trainer)
    assert BIG <= after.other - before.other <= BIG + 4096
    assert after.activations == before.activations


def test_64_mib_that_die_at_once_count_at_their_peak(trainer):
    before = watched_step(trainer)

    def allocate_and_drop(*_call):
        torch.empty(BIG, dtype=torch.uint8)

    for _time in range(2):
        trainer.model.blocks[0].register_forward_hook(allocate_and_drop)
    after = watched_step(trainer)
    # two that never live at the same time are one at the peak
    assert BIG <= after.other <= BIG + before.other
    assert BIG <= after.peak <= BIG + before.peak


def test_64_mib_of_parameters_are_weights_gradients_and_optimizer(make_trainer):
    trainer = make_trainer()
    before = watched_step(trainer)
    big = torch.nn.Parameter(torch.zeros(BIG // 4))
    trainer.model.big = big
    trainer.optimizer.add_param_group({"params": [big]})
    trainer.model.blocks[0].register_forward_hook(
        lambda _module, _inputs, output: output + big.mean()
    )
    after = watched_step(trainer)
    assert after.weights - before.weights == BIG
    assert after.gradients - before.gradients == BIG
    assert after.optimizer - before.optimizer == 2 * BIG + 4


def test_a_step_that_fails_leaves_no_result_and_no_hooks(trainer):
    handle = trainer.model.blocks[0].register_forward_hook(Mock(side_effect=RuntimeError("boom")))
    watch = MemoryWatch(trainer.model, trainer.optimizer)
    with pytest.raises(RuntimeError, match="boom"):
        trainer.train_step(watch)
    assert not hasattr(watch, "result")
    handle.remove()
    assert watched_step(trainer).weights


def test_nothing_is_kept_alive_after_a_watched_step(trainer):
    import gc

    gc.collect()
    gc.disable()
    try:
        first = watched_step(trainer).peak
        peaks = {watched_step(trainer).peak for _step in range(5)}
    finally:
        gc.enable()
    assert peaks == {first}


def test_a_run_on_the_cpu_does_not_touch_the_gpu(trainer, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", Mock(side_effect=AssertionError))
    assert watched_step(trainer).source == "tensors"
