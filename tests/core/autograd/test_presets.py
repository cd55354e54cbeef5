"""Every example gives the gradients of plain torch and of paper, or is refused as it says."""

import math

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from core.autograd.errors import explain_error
from core.autograd.graph import Failure
from core.autograd.presets import PRESETS
from core.expressions import ExpressionError
from core.expressions.grammar import parse
from core.expressions.interpreter import evaluate
from core.expressions.limits import GRADIENTS
from core.expressions.names import GRADIENT

RUNS = [key for key, preset in PRESETS.items() if not preset.refusal]
REFUSED = [key for key, preset in PRESETS.items() if preset.refusal]
pytestmark = pytest.mark.filterwarnings("ignore:Using backward")


def tensors(preset, dtype):
    """The leaves of an example; those of real numbers in another dtype, if one is given."""
    return {
        name: x.detach().to(dtype).requires_grad_(x.requires_grad)
        if dtype and x.is_floating_point()
        else x
        for name, x in preset.tensors().items()
    }


def run(preset, source="", dtype=None):
    program = parse(source or preset.source, GRADIENT.syntax)
    return evaluate(program, tensors(preset, dtype), GRADIENTS, GRADIENT)


def run_by_python(preset, dtype):
    names = {"torch": torch, "F": F, **tensors(preset, dtype)}
    exec(preset.source, names)  # noqa: S102  the oracle; our own texts
    return names


def gradient(value):
    grad = value.grad
    return None if grad is None else grad.detach()


@pytest.mark.parametrize("key", RUNS)
@pytest.mark.parametrize("dtype", [None, torch.float64], ids=["own dtype", "float64"])
def test_values_and_gradients_are_those_of_plain_torch(key, dtype):
    preset = PRESETS[key]
    told, wanted = run(preset, dtype=dtype).variables, run_by_python(preset, dtype)
    checked = 0
    for name, value in told.items():
        torch.testing.assert_close(value, wanted[name], rtol=0, atol=0, equal_nan=True)
        if value.is_leaf:
            mine, others = gradient(value), gradient(wanted[name])
            assert (mine is None) == (others is None), name
            if mine is not None:
                torch.testing.assert_close(mine, others, rtol=0, atol=0, equal_nan=True)
                checked += 1
    assert checked


# By hand: the chain rule on paper, or the number that the source prints.
ON_PAPER = {
    "square": {"w": 42, "b": 14},
    "fork": {"x": 4 + 3},
    "polynomial": {"x": 7},
    "mse": {"w": [-26 / 3]},
    "sum_of_squares": {"x": [4, 6]},
    "linear": {"w": [1, 2, 3]},
    "two_layers": {
        "W2": [[6], [0]],
        "b2": [3],
        "W1": [[3, 0], [6, 0]],
        "b1": [3, 0],
        "x": [[3, 1.5]],
    },
    "cross_entropy": {
        "z": [
            [math.exp(each) / (math.exp(2) + math.exp(1) + 1) - hot]
            for each, hot in ((2, 1), (1, 0), (0, 0))
        ]
    },
    "retain_grad": {"w": 36},
    "accumulate": {"x": 12},
    "zeroed": {"x": 0},
    "detach": {"x": 9},
    "no_grad": {"x": 6},
    "enable_grad": {"x": 12},
    "leaf_in_no_grad": {"w": [2, 2, 2]},
    "second_derivative": {"x": 6 - math.sin(1)},
    "nan_trap": {"x": math.nan},
    "relu_at_zero": {"x": [0, 0, 1]},
    "max_tie": {"x": [0.5, 0, 0.5]},
    "add_twice": {"x": 2},
}


@pytest.mark.parametrize("key", ON_PAPER)
def test_gradients_are_those_on_paper(key):
    told = run(PRESETS[key], dtype=torch.float64).variables
    for name, wanted in ON_PAPER[key].items():
        exact = torch.tensor(wanted, dtype=told[name].grad.dtype).view_as(told[name])
        torch.testing.assert_close(told[name].grad.detach(), exact, equal_nan=True)


def test_every_example_that_runs_but_the_step_is_done_on_paper():
    assert set(RUNS) - ON_PAPER.keys() == {"step"}


def test_a_step_of_gradient_descent_lowers_the_loss_by_what_the_formula_says():
    preset = PRESETS["step"]
    told = run(preset, dtype=torch.float64).variables
    w = 0.5 + 0.1 * 26 / 3
    loss = sum((w * x - y) ** 2 for x, y in ((1, 2), (2, 3), (3, 4))) / 3
    assert told["loss"].item() == pytest.approx(loss)
    assert loss < 25 / 6


def test_forward_values_are_those_that_the_sources_print():
    assert run(PRESETS["square"]).variables["y"] == 49
    assert run(PRESETS["mse"]).variables["loss"].item() == pytest.approx(25 / 6)
    linear = run(PRESETS["linear"]).variables
    assert (linear["pred"], linear["loss"]) == (6, 0.5)


@pytest.mark.parametrize("key", REFUSED)
def test_an_example_that_is_refused_is_refused_as_it_says_and_its_rewrite_runs(key):
    preset = PRESETS[key]
    with pytest.raises(ExpressionError, match="refused") as refused:
        run(preset)
    failure = Failure(
        kind="RuntimeError", message=refused.value.torch_message, line=refused.value.line
    )
    explained = explain_error(failure, preset.source, preset.tensors())
    assert explained.kind == preset.refusal
    run(preset, explained.rewrite)


def test_rows_are_complete_and_say_different_things():
    rows = PRESETS.values()
    assert all(row.title and row.nudged in row.tensors() for row in rows)
    assert len({row.title for row in rows}) == len({row.source + row.leaves for row in rows})
    assert len({row.title for row in rows}) == len(rows)


def test_leaves_are_fresh_each_time_and_class_indices_stay_integers():
    first, second = (PRESETS["cross_entropy"].tensors() for _turn in range(2))
    assert first["z"] is not second["z"]
    assert (first["z"].dtype, first["target"].dtype) == (torch.float32, torch.int64)
