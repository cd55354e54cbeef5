"""Models small enough to really train in a test, and what is made ready for a step."""

from dataclasses import replace

import pytest
import torch

from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.recipe import TrainingRecipe
from core.budget.simulation.cases import SIMULATED
from core.budget.simulation.step import OptimizerStep, PreparedStep, run_step, simulate_step
from core.budget.simulation.tracker import StorageTracker
from core.budget.weights.parameters import counts
from core.models.build import build_model
from core.models.spec import ModelSpec

LLAMA = ModelSpec(
    name="tiny Llama", num_layers=3, hidden_dim=128, num_heads=4, num_kv_heads=2, head_dim=32,
    ffn_dim=340, vocab_size=500, seq_len=128,
)  # fmt: skip
GPT2 = replace(
    LLAMA, name="tiny GPT-2", num_kv_heads=4, ffn_dim=512, tied=True, gated=False, norm="layer",
    norm_bias=True, attention_bias="all", ffn_bias=True, learned_positions=128,
)  # fmt: skip


def recipe(**changes) -> TrainingRecipe:
    """Return a recipe that this machine can run, on two sequences of 64 tokens."""
    small = {"batch_size": 2, "seq_len": 64, "precision": "fp32", "profile": "cpu"}
    return TrainingRecipe(**{**small, **changes})


def test_what_lives_between_steps_takes_the_bytes_of_the_precisions_row():
    num_params = counts(LLAMA).total
    for key in SIMULATED:
        base = simulate_step(LLAMA, recipe(precision=key, step_kind="fused")).base
        row = PRECISIONS[key]
        assert base["weights"] == row.weights * num_params, key
        assert base.get("master weights", 0) == row.master * num_params, key
        sums = base.get("gradient sums", 0)
        assert sums == num_params * (4 if key in {"megatron", "nanotron"} else 0), key
        states = base["optimizer states"] - 2 * row.state * num_params
        assert 0 <= states <= 4 * 100, key  # step counts


def test_the_tracker_sees_the_same_step_on_real_tensors_as_on_meta():
    peaks = []
    for device in ("meta", "cpu"):
        prepared = PreparedStep(LLAMA, recipe(), device)
        peaks.append(run_step(prepared.checkpointed(), StorageTracker()).peak)
    assert abs(peaks[0] - peaks[1]) <= 100  # one-number tensors of the CPU's optimizer step


STATE_BYTES = {"sgd": 0, "momentum": 4, "adagrad": 4, "rmsprop": 4, "adam": 8, "adamw": 8}


def _step(key: str, step_kind: str = "foreach") -> tuple[OptimizerStep, int]:
    named = list(build_model(LLAMA).named_parameters())
    num_params = sum(each.numel() for _, each in named)
    return OptimizerStep(named, key, step_kind), num_params


@pytest.mark.parametrize("key", OPTIMIZERS)
def test_states_live_already_and_the_step_leaves_no_gradient(key: str):
    step, num_params = _step(key)
    num_bytes = sum(each.numel() * each.element_size() for each in step.states())
    if key in STATE_BYTES:  # and a step count of 4 bytes for each tensor at most
        assert 0 <= num_bytes - STATE_BYTES[key] * num_params <= 4 * len(step.parameters)
    for each in step.parameters:
        each.grad = torch.zeros_like(each)
    step.step()
    step.forget_gradients()
    assert all(each.grad is None for each in step.parameters)
