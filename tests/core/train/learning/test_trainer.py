import itertools
import math

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from core.train.learning.trainer import Trainer


def losses(trainer, num_steps):
    return [trainer.train_step().loss for _step in range(num_steps)]


def test_the_same_config_gives_the_same_losses_bit_for_bit(make_trainer):
    assert losses(make_trainer(), 8) == losses(make_trainer(), 8)


def test_evaluation_and_samples_consume_no_training_chance(make_trainer):
    plain, watched = make_trainer(), make_trainer()
    seen = []
    for _step in range(6):
        watched.validation_loss()
        seen.append(watched.train_step().loss)
    assert seen == losses(plain, 6)


def test_two_passes_of_half_a_batch_make_the_step_of_the_whole(make_trainer):
    whole, halves = make_trainer(batch_size=8), make_trainer(batch_size=4, accumulation_steps=2)
    for _step in range(3):
        one, two = whole.train_step(), halves.train_step()
        assert one.loss == pytest.approx(two.loss, rel=1e-5)
        assert one.grad_norm == pytest.approx(two.grad_norm, rel=1e-4)


def test_the_loss_is_taken_before_the_update_and_the_norm_before_the_clip(make_trainer):
    trainer = make_trainer(grad_clip=1e-3)
    tokens, targets = next(iter(trainer._batches(1)))
    scores = trainer.model.logits(tokens)
    loss = F.cross_entropy(scores.flatten(0, 1), targets.flatten())
    grads = torch.autograd.grad(loss, list(trainer.model.parameters()))
    result = trainer.train_step()
    assert result.loss == pytest.approx(loss.item(), rel=1e-6)
    norm = torch.linalg.vector_norm(torch.cat([g.flatten() for g in grads]))
    assert result.grad_norm == pytest.approx(norm.item(), rel=1e-5)
    clipped = [weight.grad.flatten() for weight in trainer.model.parameters()]
    assert torch.cat(clipped).norm().item() == pytest.approx(1e-3, rel=1e-2)


def test_targets_are_the_next_tokens(make_trainer):
    trainer = make_trainer()
    text = trainer.training
    for tokens, targets in trainer._batches(1):
        assert torch.equal(tokens[:, 1:], targets[:, :-1])
        windows = text.unfold(0, 17, 1).long()
        rows = torch.cat([tokens, targets[:, -1:]], dim=1)
        assert all((windows == row).all(dim=1).any() for row in rows)


def test_a_small_text_is_learnt_below_its_bigram_entropy(make_trainer):
    trainer = make_trainer(num_steps=200, learning_rate=1e-2, min_learning_rate=1e-3)
    before = trainer.validation_loss()
    for _step in range(200):
        trainer.train_step()
    assert before > 3.0
    assert trainer.validation_loss() < 0.5


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_number_that_is_not_finite_leaves_the_weights_alone(make_trainer, bad):
    trainer = make_trainer()
    trainer.train_step()
    name = "blocks.0.feed_forward.up.weight"
    weight = trainer.model.get_parameter(name)
    before = weight.detach().clone()
    weight.register_hook(lambda gradient: gradient * bad)
    result = trainer.train_step()
    assert (result.skipped, result.tensor) == (True, name)
    assert torch.equal(weight, before)
    assert trainer.step == 2


def test_bfloat16_learns_as_float32_does(make_trainer):
    kinds = ("fp32", "bf16", "bf16_fp32_attention", "fp16")
    ends = {kind: losses(make_trainer(precision=kind, num_steps=60), 60)[-1] for kind in kinds}
    assert ends["bf16"] == pytest.approx(ends["fp32"], abs=0.05)
    assert ends["bf16_fp32_attention"] == pytest.approx(ends["fp32"], abs=0.05)
    assert ends["fp16"] == pytest.approx(ends["fp32"], abs=0.05)


def test_validation_uses_text_that_training_never_sees(make_trainer):
    trainer = make_trainer()
    trainer.training.zero_()
    before = trainer.validation_loss()
    trainer.validation.zero_()
    assert trainer.validation_loss() != before
    assert isinstance(trainer, Trainer)


def test_matrices_decay_and_gains_do_not(make_trainer):
    trainer = make_trainer(weight_decay=0.3)
    decaying, steady = trainer.optimizer.param_groups
    assert decaying["weight_decay"] == 0.3
    assert all(weight.dim() == 2 for weight in decaying["params"])
    assert steady["weight_decay"] == 0.0
    assert all(weight.dim() == 1 for weight in steady["params"])
    grouped = len(decaying["params"]) + len(steady["params"])
    assert grouped == len(list(trainer.model.parameters()))


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_steps_read_in_bursts_are_the_steps_read_one_by_one(make_trainer, precision):
    # powers of two: a rate kept as a 32-bit tensor is then the very rate of the plain number
    settings = {"learning_rate": 2.0**-9, "min_learning_rate": 2.0**-9, "warmup_steps": 0}
    settings["precision"] = precision
    one_by_one, burst = make_trainer(**settings), make_trainer(in_bursts=True, **settings)
    expected = [one_by_one.train_step() for _step in range(8)]
    results = burst.read_steps([burst.launch_step() for _step in range(8)])
    for one, two in zip(expected, results, strict=True):
        assert (one.step, one.learning_rate, one.skipped) == (two.step, two.learning_rate, False)
        assert one.loss == pytest.approx(two.loss, rel=1e-6)
        assert one.grad_norm == pytest.approx(two.grad_norm, rel=1e-5)
        assert two.seconds > 0


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_nothing_in_a_step_of_a_burst_asks_the_device_for_a_number(
    make_trainer, monkeypatch, precision
):
    trainer = make_trainer(in_bursts=True, precision=precision)
    trainer.train_step()

    def asked(*_arguments):
        pytest.fail("a step waited for the device")

    for name in ("item", "tolist", "cpu", "__bool__", "__float__", "numpy"):
        monkeypatch.setattr(torch.Tensor, name, asked)
    launched = [trainer.launch_step() for _step in range(3)]
    monkeypatch.undo()
    assert [result.step for result in trainer.read_steps(launched)] == [2, 3, 4]


def test_the_learning_rate_of_a_burst_is_a_tensor_that_is_filled_in_place(make_trainer):
    trainer = make_trainer(in_bursts=True)
    held = [group["lr"] for group in trainer.optimizer.param_groups]
    trainer.learning_rate_multiplier = 0.5
    rate = trainer.train_step().learning_rate
    now = [group["lr"] for group in trainer.optimizer.param_groups]
    assert all(before is after for before, after in zip(held, now, strict=True))
    assert now[0].item() == pytest.approx(rate)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_steps_launched_behind_a_number_that_is_not_finite_never_count(make_trainer, bad):
    trainer = make_trainer(in_bursts=True)
    weight = trainer.model.get_parameter("blocks.0.feed_forward.up.weight")
    weight.register_hook(lambda gradient: gradient * (bad if trainer.step == 2 else 1.0))
    launched = [trainer.launch_step() for _step in range(2)]
    before = weight.detach().clone()
    launched += [trainer.launch_step() for _step in range(3)]
    assert torch.equal(weight, before)
    results = trainer.read_steps(launched)
    assert [result.step for result in results if not result.skipped] == [1, 2]
    assert [result.step for result in results if result.skipped] == [3]
    assert trainer.step == 3
    assert torch.equal(weight, before)
    again = trainer.train_step()
    assert (again.step, again.skipped) == (4, False)
    assert not torch.equal(weight, before)
    assert all(state["step"].item() == 3 for state in trainer.optimizer.state.values())


def test_the_tensor_that_halted_a_burst_is_named_although_later_steps_have_come(make_trainer):
    trainer = make_trainer(in_bursts=True)
    with torch.no_grad():
        trainer.model.get_parameter("blocks.0.norm_2.weight").fill_(math.nan)
    result, *rest = trainer.read_steps([trainer.launch_step() for _step in range(3)])
    assert (result.step, result.skipped, rest) == (1, True, [])
    assert result.tensor == "blocks.0.norm_2.weight"


@pytest.mark.parametrize("in_bursts", [False, True])
def test_of_many_bad_gradients_the_one_nearest_the_output_is_named(make_trainer, in_bursts):
    trainer = make_trainer(in_bursts=in_bursts, num_layers=2)
    # An overflow in the second block's backward pass spoils all that lies before it.
    trainer.model.blocks[1].norm_2.register_full_backward_hook(
        lambda _module, given, _taken: tuple(each * math.inf for each in given)
    )
    result = trainer.train_step()
    assert result.skipped
    assert result.tensor == "blocks.1.attention.out.weight"


@pytest.mark.parametrize("in_bursts", [False, True])
def test_gradients_that_overflow_fp16_skip_their_step_and_halve_the_scale(make_trainer, in_bursts):
    trainer = make_trainer(in_bursts=in_bursts, precision="fp16")
    weight = trainer.model.get_parameter("blocks.0.feed_forward.up.weight")
    factors = iter([1.0, math.inf, 1.0])
    weight.register_hook(lambda gradient: gradient * next(factors))
    weights, scales, results = [weight.detach().clone()], [trainer.scaler.get_scale()], []
    for _step in range(3):
        results.append(trainer.train_step())
        weights.append(weight.detach().clone())
        scales.append(trainer.scaler.get_scale())
    assert [result.overflowed for result in results] == [False, True, False]
    assert not any(result.skipped for result in results)
    changed = [not torch.equal(*pair) for pair in itertools.pairwise(weights)]
    assert changed == [True, False, True]
    assert [scale / scales[0] for scale in scales] == [1.0, 1.0, 0.5, 0.5]


@pytest.mark.parametrize("in_bursts", [False, True])
def test_a_loss_that_is_no_number_halts_fp16_too_and_leaves_its_scale(make_trainer, in_bursts):
    trainer = make_trainer(in_bursts=in_bursts, precision="fp16")
    scale = trainer.scaler.get_scale()
    norm = trainer.model.get_parameter("blocks.0.norm_2.weight")
    good = norm.detach().clone()
    with torch.no_grad():
        norm.fill_(math.nan)
    count = 3 if in_bursts else 1
    (result,) = trainer.read_steps([trainer.launch_step() for _step in range(count)])
    assert (result.skipped, result.overflowed, result.step) == (True, False, 1)
    assert trainer.scaler.get_scale() == scale
    with torch.no_grad():
        norm.copy_(good)
    assert not trainer.train_step().skipped


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")
def test_a_cuda_step_never_synchronizes_and_attends_by_flash(make_trainer):
    trainer = make_trainer(on="cuda", precision="bf16", hidden_dim=64, num_heads=2)
    assert trainer.in_bursts
    trainer.train_step()
    torch.cuda.set_sync_debug_mode("error")
    try:
        launched = [trainer.launch_step() for _step in range(4)]
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert [result.step for result in trainer.read_steps(launched)] == [2, 3, 4, 5]
    with torch.profiler.profile() as profile:
        trainer.train_step()
    kernels = " ".join(event.key for event in profile.key_averages())
    assert "flash" in kernels
    assert "fused" in kernels.lower()
