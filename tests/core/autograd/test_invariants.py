"""Everything that can be captured agrees with itself, with torch, and with nearby values."""

import random

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from core.autograd.built_graphs import BUILT_GRAPHS, capture_built
from core.autograd.differences import finite_differences
from core.autograd.presets import PRESETS
from core.autograd.program import capture_program, function_of
from core.autograd.tensor_info import statistics_of
from tests.core.autograd.agreement import as_tensor, check
from tests.core.autograd.made_programs import is_differentiable, made_program

RUNS = [key for key, preset in PRESETS.items() if not preset.refusal]
CHECKED = [key for key in RUNS if key != "leaf_in_no_grad"]  # to leaves that were handed in
REASONS = {  # why nearby values say something else, or could
    **dict.fromkeys(["relu_at_zero", "max_tie"], "kink"),
    "nan_trap": "edge",
    **dict.fromkeys(["detach", "no_grad"], "cut"),
}
NUM_PROGRAMS = 500
pytestmark = pytest.mark.filterwarnings("ignore:Using backward")


def run_by_python(source, leaves):
    """Run a program as Python; return what its names stand for at the end."""
    names = {"torch": torch, "F": F, **leaves}
    exec(source, names)  # noqa: S102  the oracle; our own texts
    return names


def check_gradients(source, leaves, found):
    """Fail unless torch alone says the same: the program as Python, and as a function."""
    fresh = {name: x.detach().clone().requires_grad_(x.requires_grad) for name, x in leaves.items()}
    names = run_by_python(source, fresh)
    needed = [name for name, x in leaves.items() if x.requires_grad]
    result = function_of(source)(**leaves)
    wanted = torch.autograd.grad(result, [leaves[name] for name in needed], allow_unused=True)
    for name, by_function in zip(needed, wanted, strict=True):
        told, by_python = found.leaves[name].grad, names[name].grad
        assert (told is None) == (by_python is None) == (by_function is None), name
        if told is not None:
            for each in (by_python, by_function):
                torch.testing.assert_close(as_tensor(told), each, equal_nan=True)


def check_against_nearby_values(source, leaves, found):
    """Fail unless the gradients are the slopes between nearby values of the program as Python."""
    without = compile(source.replace("loss.backward()", ""), "program", "exec")
    slopes = finite_differences(lambda **x: run_by_python(without, x)["loss"], leaves)
    for name, each in slopes.items():
        assert each.agrees, (name, each)
        assert each.reason == "", name
        assert each.gradient == pytest.approx(found.leaves[name].grad.values)


@pytest.mark.parametrize("key", RUNS)
def test_an_example_agrees_with_itself(key):
    check(capture_program(PRESETS[key].source, PRESETS[key].tensors()))


@pytest.mark.parametrize("key", CHECKED)
def test_gradients_of_an_example_are_the_slopes_between_nearby_values(key):
    leaves = {
        name: x.detach().double().requires_grad_(x.requires_grad) if x.is_floating_point() else x
        for name, x in PRESETS[key].tensors().items()
    }
    slopes = finite_differences(function_of(PRESETS[key].source), leaves)
    checked = {name: slopes[name] for name, x in leaves.items() if x.requires_grad}
    assert checked
    for name, each in checked.items():
        assert each.reason == REASONS.get(key, ""), (name, each)
        assert each.reason or each.agrees, (name, each)


@pytest.mark.parametrize("key", BUILT_GRAPHS)
def test_a_built_graph_agrees_with_itself(key):
    row = BUILT_GRAPHS[key]
    check(capture_built(row, row.low))


@pytest.mark.parametrize("key", BUILT_GRAPHS)
def test_gradients_of_a_built_graph_are_those_of_torch(key):
    row = BUILT_GRAPHS[key]
    found = capture_built(row, row.low)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        made = row.make(row.low)
        torch.manual_seed(0)
        made.function(**made.leaves).backward()
    parameters = dict(made.module.named_parameters()) if made.module is not None else {}
    for name, x in {**made.leaves, **parameters}.items():
        told = found.leaves[name].grad
        assert (told is None) == (x.grad is None), name
        if told is not None:
            assert told.shape == tuple(x.shape)
            wanted = statistics_of(x.grad)
            for word in ("minimum", "maximum", "mean", "norm"):
                number = pytest.approx(getattr(wanted, word), rel=1e-4, abs=1e-6)
                assert getattr(told.statistics, word) == number, (name, word)


@pytest.mark.slow
def test_random_programs_agree_with_themselves_with_torch_and_with_nearby_values():
    dice = random.Random(20261123)  # noqa: S311  the same programs every time
    compared = 0
    for _number in range(NUM_PROGRAMS):
        source, leaves = made_program(dice)
        found = capture_program(source, leaves)
        try:
            check(found)
            check_gradients(source, leaves, found)
            if is_differentiable(source):
                check_against_nearby_values(source, leaves, found)
                compared += 1
        except AssertionError as error:
            raise AssertionError(f"{source}\n{leaves}") from error
    assert compared > NUM_PROGRAMS / 2, "most programs have slopes to compare"
