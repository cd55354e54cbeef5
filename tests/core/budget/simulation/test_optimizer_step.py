import pytest
import torch

from core.budget.simulation.optimizer_step import OptimizerStep
from core.budget.training.optimizers import OPTIMIZERS
from core.models.build import build_model
from tests.core.budget.simulation.test_prepared import LLAMA

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


def test_eight_bit_adam_keeps_two_bytes_a_parameter_and_its_scales():
    step, num_params = _step("adam8bit")
    num_bytes = sum(each.numel() * each.element_size() for each in step.states())
    assert num_bytes == pytest.approx(num_params * (2 + 2 * 4 / 256), rel=1e-4)


def test_muon_keeps_one_moment_for_inner_matrices_and_two_for_the_rest():
    step, num_params = _step("muon")
    inner = sum(
        each.numel()
        for name, each in build_model(LLAMA).named_parameters()
        if name.startswith("blocks") and each.dim() == 2
    )
    num_bytes = sum(each.numel() * each.element_size() for each in step.states())
    expected = 4 * inner + 8 * (num_params - inner)
    assert 0 <= num_bytes - expected <= 4 * len(step.parameters)
