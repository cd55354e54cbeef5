"""A step taken apart: its parts add up, its memory is as simulated, its updates as meant."""

import dataclasses

import numpy as np
import pytest
import torch

from core.train.config import TrainConfig
from core.train.learning.trainer import Trainer
from core.train.profiler import step
from core.train.profiler.numbers import histogram, meant_updates, numbers_of_step
from core.train.profiler.results import PARTS, read_result, write_result

SIZES = {"num_layers": 1, "hidden_dim": 32, "num_heads": 2, "seq_len": 16, "batch_size": 4}


def trainer(**settings):
    torch.set_num_threads(1)
    tokens = np.random.default_rng(0).integers(0, 60, 2000).astype(np.uint16)
    config = TrainConfig(**{"precision": "fp32", **SIZES, **settings})
    return Trainer(config, tokens, tokens, 60, torch.device("cpu"))


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(step, "MOST_STEPS", 3)
    monkeypatch.setattr(step, "CPU_SIZE", 64)


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_the_parts_add_up_and_the_result_survives_json(tmp_path):
    found = step.take_apart(trainer(), tmp_path)
    assert set(found.parts) == set(PARTS)
    assert found.seconds() == pytest.approx(sum(found.seconds(part) for part in PARTS))
    assert all(min(times) > 0 for part, times in found.parts.items() if part != "other")
    assert found.seconds("other") < 0.5 * found.seconds()  # rate, zero_grad, a check
    tokens, weights = 64, 32 * 32 * 12 + 60 * 32
    attention = 3.5 * 4 * 4 * 16 * 16 * 32  # forward 2 products, backward 5, of B T T C
    assert found.flops == 6 * tokens * weights + attention
    assert sum(found.spans.values()) == pytest.approx(1)
    write_result("anatomy", found, tmp_path)
    assert read_result("anatomy", tmp_path) == found


@pytest.mark.slow
def test_the_simulated_memory_is_the_measured_one_byte_by_byte():
    rows = [
        {}, {"precision": "bf16"}, {"precision": "fp16"}, {"precision": "pure_bf16"},
        {"optimizer": "sgd"}, {"optimizer": "muon"}, {"accumulation_steps": 2},
        {"checkpointing": True, "num_layers": 2}, {"family": "llama", "num_kv_heads": 1},
        {"family": "llama", "checkpointing": True, "num_layers": 2},
    ]  # fmt: skip
    for settings in rows:
        one = trainer(**settings)
        for _step in range(2):
            one.train_step()
        weights = [weight.detach().clone() for weight in one.model.parameters()]
        simulated = step.simulate_memory(one)
        assert all(map(torch.equal, weights, one.model.parameters())), settings
        assert simulated.peak == step.track_memory(one).peak > 0, settings


@pytest.mark.slow
def test_each_arm_of_item_reads_as_often_as_it_says(monkeypatch):
    monkeypatch.setattr(step, "ITEM_STEPS", 4)
    monkeypatch.setattr(step, "NUM_TURNS", 1)
    read = []
    monkeypatch.setattr(torch.Tensor, "item", lambda _loss: read.append(1))
    for optimizer in ("adamw", "momentum", "rmsprop"):
        read.clear()
        found = step.compare_item(trainer(optimizer=optimizer))
        assert (len(found.first), len(found.second)) == (1, 1)
        assert len(read) == 4 + 1, optimizer


@pytest.mark.slow
def test_a_compiled_step_stands_beside_an_eager_one_and_a_failure_is_told(monkeypatch):
    monkeypatch.setattr(step, "MOST_STEPS", 2)
    monkeypatch.setattr(step, "NUM_TURNS", 2)
    found = step.compare_compiled(trainer(), backend="eager")
    assert len(found.first) == len(found.second) == 2
    assert found.ready > 0 < found.ratio

    def broken(_graph, _inputs):
        raise RuntimeError("no compiler")

    with pytest.raises(ValueError, match=r"gave up here .*C\+\+ compiler"):
        step.compare_compiled(trainer(), backend=broken)


@pytest.mark.slow
def test_a_model_too_slow_for_two_hundred_steps_is_refused(monkeypatch):
    monkeypatch.setattr(step, "MAX_SECONDS", 1e-9)
    with pytest.raises(ValueError, match="choose a smaller model"):
        step.compare_item(trainer())


@pytest.mark.slow
def test_meant_updates_are_those_that_float32_weights_take():
    for optimizer in ("adamw", "sgd", "momentum", "rmsprop", "adagrad", "muon"):
        one = trainer(optimizer=optimizer)
        one.train_step()
        weights = list(one.model.parameters())
        before = [weight.detach().clone() for weight in weights]
        meant = []

        def during(part, one=one, weights=weights, meant=meant):
            if part == "optimizer":
                meant.extend(meant_updates(one.optimizer, weights))
            return torch.no_grad() if part == "optimizer" else torch.enable_grad()

        with step.surrounded(one, during):
            one.train_step()
        for update, old, new in zip(meant, before, weights, strict=True):
            # Muon computes its update in bfloat16
            near = (
                {"rtol": 2e-2, "atol": 2e-4}
                if optimizer == "muon"
                else {"rtol": 1e-3, "atol": 1e-7}
            )
            torch.testing.assert_close(new.detach().double() - old.double(), update, **near)


@pytest.mark.slow
def test_bf16_weights_whose_updates_are_under_half_an_ulp_do_not_move(tmp_path):
    one = trainer(precision="pure_bf16", learning_rate=1e-4, min_learning_rate=1e-5)
    for _step in range(5):
        one.train_step()
    found = numbers_of_step(one)
    assert found.dtype == "bfloat16"
    assert found.moved
    assert found.below_half > 0.5
    assert found.unmoved == pytest.approx(found.below_half, abs=0.02)
    assert found.weights.total == sum(each.numel() for each in one.model.parameters())
    write_result("numbers", found, tmp_path)
    assert read_result("numbers", tmp_path) == found


def test_where_nothing_moves_the_numbers_say_so():
    one = trainer()
    with torch.no_grad():
        next(iter(one.model.parameters()))[0, 0] = float("nan")
    found = numbers_of_step(one)
    assert not found.moved
    assert found.unmoved == pytest.approx(1, abs=1e-3)
    assert found.updates.total == 0
    assert found.gradients.non_finite > 0 < found.weights.non_finite


def test_the_format_of_the_numbers_is_that_of_most_weights():
    one = trainer(precision="bf16")
    weight = next(each for name, each in one.model.named_parameters() if "qkv" in name)
    weight.data = weight.data.bfloat16()
    found = numbers_of_step(one)
    assert {row.dtype for row in found.tensors} == {"float32", "bfloat16"}
    assert found.dtype == "float32"


def test_a_histogram_counts_zeros_and_what_is_not_finite_apart():
    found = histogram([torch.tensor([0.0, 1.0, 1.5, -0.25, float("inf"), float("nan")])])
    assert (found.low, found.counts) == (-2, [1, 0, 2])
    assert (found.zeros, found.non_finite, found.total) == (1, 2, 6)
    assert (found.below(0), found.below(-2), found.below(9)) == (1, 0, 3)
    nothing = histogram([torch.zeros(3)])
    assert (nothing.counts, nothing.zeros, nothing.below(3)) == ([], 3, 0)
    assert dataclasses.asdict(nothing)["non_finite"] == 0
