"""Finite differences against closed forms, and against backwards that are wrong on purpose."""

import math

import pytest
import torch

from core.autograd.differences import finite_differences, nudge

X, Y = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([2.0, 3.0, 4.0])


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def number(value):
    return torch.tensor(value, requires_grad=True)


def squared_error(w):
    return ((w * X.to(w.dtype) - Y.to(w.dtype)) ** 2).mean()


class Wrong(torch.autograd.Function):
    """x squared, whose author forgot the 2."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * x


def test_the_slope_of_the_squared_error_is_minus_26_thirds():
    found = finite_differences(squared_error, {"w": leaf(0.5)})["w"]
    assert found.gradient == pytest.approx((-26 / 3,))
    assert found.estimate == pytest.approx((-26 / 3,), rel=1e-9)
    assert found.agrees
    assert found.reason == ""


def test_the_same_differences_in_float32_miss_by_more_than_a_percent():
    step = 1e-6
    right, left = (squared_error(torch.tensor(0.5 + sign * step)) for sign in (1, -1))
    in_float32 = float((right - left) / (2 * step))
    assert in_float32 == pytest.approx(-8.82, abs=0.01)
    seen = []
    finite_differences(lambda w: seen.append(w.dtype) or squared_error(w), {"w": leaf(0.5)})
    assert set(seen) == {torch.float64}


def test_each_element_is_checked_up_to_64_and_then_one_direction():
    few = finite_differences(lambda x: (x**3).sum(), {"x": torch.rand(8, 8, requires_grad=True)})
    many = finite_differences(lambda x: (x**3).sum(), {"x": torch.rand(65, requires_grad=True)})
    assert (few["x"].num_checked, few["x"].is_directional) == (64, False)
    assert (many["x"].num_checked, many["x"].is_directional) == (1, True)
    assert few["x"].agrees
    assert many["x"].agrees
    assert many["x"].relative_error < 1e-8


def test_a_backward_that_forgot_a_factor_is_flagged():
    for size in (3, 100):
        x = torch.linspace(1, 2, size, requires_grad=True)
        found = finite_differences(lambda x: Wrong.apply(x).sum(), {"x": x})["x"]
        assert found.is_wrong, size
        assert found.relative_error == pytest.approx(0.5, rel=1e-3), size


def no_grad(x):
    with torch.no_grad():
        return x * 3


CUTS = {
    "detach": lambda x: x.detach() * 3 + 0 * x,
    "all of it": lambda x: x.detach() * 3,
    "no_grad": lambda x: no_grad(x) * x,
    "data": lambda x: x.data * x,
    "item": lambda x: x[0].item() * x,
    "into a buffer": lambda x: torch.zeros(2, dtype=x.dtype).copy_(x.detach()) * x,
    "and on": lambda x: (x.detach().exp() + 1).sqrt() * x,
}
NO_CUTS = {
    "unused": lambda x: (x.detach() * 3, x * 2)[1],
    "chosen": lambda x: torch.where(x > 0, x**2, x),
    "index": lambda x: x[x.argmax()] + x * 2,
    "integers": lambda x: x.long() * x,
    "rounded": lambda x: x.round() * x,
    "written": lambda x: torch.zeros(2, dtype=x.dtype).copy_(x) * x,
    "of data": lambda x: torch.ones(2, dtype=x.dtype).detach() * x,
}


def test_a_cut_is_no_wrong_backward_and_excuses_none():
    """Of a value that moves past autograd, both are right; what is cut elsewhere is no excuse."""
    for name, function in CUTS.items():
        found = finite_differences(lambda x, f=function: f(x).sum(), {"x": leaf(1.1, 2.2)})["x"]
        assert (found.agrees, found.reason) == (False, "cut"), name
    for name, function in NO_CUTS.items():
        found = finite_differences(lambda x, f=function: f(x).sum(), {"x": leaf(1.1, 2.2)})["x"]
        assert (found.agrees, found.reason) == (True, ""), name
        if name != "unused":
            wrong = lambda x, f=function: Wrong.apply(f(x)).sum()  # noqa: E731
            assert finite_differences(wrong, {"x": leaf(1.1, 2.2)})["x"].is_wrong, name
    other = finite_differences(
        lambda x, w: (Wrong.apply(x) * w.detach()).sum(), {"x": leaf(1.1), "w": leaf(2.0)}
    )
    assert other["x"].is_wrong
    assert other["w"].reason == "cut"


def test_a_hook_that_changes_a_gradient_is_named_and_not_the_backward_pass():
    def hooked(x):
        y = x * 2
        if y.requires_grad:
            y.register_hook(lambda g: 3 * g)
        return (y * x).sum()

    found = finite_differences(hooked, {"x": leaf(1.0)})["x"]
    assert (found.agrees, found.reason) == (False, "hook")


def test_a_leaf_that_is_the_result_itself_has_the_slope_1():
    found = finite_differences(lambda w: w, {"w": number(2.0)})["w"]
    assert found.gradient == (1,)
    assert found.agrees


def test_where_there_is_no_derivative_that_is_said():
    """A kink has two slopes; at an edge one side, or the slope itself, is not finite."""
    rows = {
        "kink": [torch.relu, torch.abs, torch.linalg.vector_norm, lambda x: x.clamp(0, 1)],
        "edge": [
            torch.sqrt,
            torch.log,
            torch.reciprocal,
            torch.floor,
            torch.sign,
            lambda x: x.abs().sqrt(),
            lambda x: x.sign() * x.abs() ** (1 / 3),
            lambda x: torch.where(x > 0, x.sqrt(), 0),
            lambda x: x**1.5,
        ],
    }
    for reason, functions in rows.items():
        for at, function in enumerate(functions):
            found = finite_differences(lambda x, f=function: f(x).sum(), {"x": leaf(0.0)})["x"]
            assert (found.reason, found.is_wrong) == (reason, False), (reason, at, found)
    tie = finite_differences(lambda x: x.max(), {"x": leaf(3.0, 1.0, 3.0)})["x"]
    assert (tie.reason, tie.gradient) == ("kink", (0.5, 0, 0.5))


def test_an_edge_or_a_kink_of_one_element_leaves_the_others_as_they_are():
    found = finite_differences(lambda x: x.sqrt().sum(), {"x": leaf(0.0, 4.0)})["x"]
    assert found.gradient == (math.inf, 0.25)
    assert found.estimate[1] == pytest.approx(0.25)
    assert found.relative_error < 1e-8
    assert found.reason == "edge"
    for function in (torch.sqrt, torch.abs):
        mixed = finite_differences(
            lambda x, f=function: f(x[0]) + Wrong.apply(x[1]), {"x": leaf(0.0, 2.0)}
        )
        assert mixed["x"].is_wrong


def test_beside_a_kink_or_an_edge_a_right_backward_is_not_blamed_and_a_wrong_one_is():
    for function in (torch.log, torch.sqrt, torch.reciprocal):
        for x in (2e-5, 1e-4, 1e-3, 0.1):
            found = finite_differences(lambda x, f=function: f(x).sum(), {"x": leaf(x)})["x"]
            assert found.agrees, x
            wrong = lambda x, f=function: Wrong.apply(f(x)).sum()  # noqa: E731
            assert finite_differences(wrong, {"x": leaf(x)})["x"].is_wrong, x
    for function in (torch.relu, torch.abs):
        for x in (1e-7, -1e-7, 3e-6, -3e-6, 2e-5):
            found = finite_differences(lambda x, f=function: f(x).sum(), {"x": leaf(x)})["x"]
            assert not found.is_wrong, x


def test_autograd_takes_0_for_relu_at_0_where_differences_say_a_half():
    found = finite_differences(lambda x: x.relu().sum(), {"x": leaf(0.0)})["x"]
    assert found.gradient == (0,)
    assert found.estimate == pytest.approx((0.5,))
    assert not found.agrees


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_strong_curvature_is_no_kink(scale):
    for x in (0.0, 1.0, 1000.0):
        found = finite_differences(lambda x: (scale * x**2).sum(), {"x": leaf(x)})["x"]
        assert found.reason == "", x
        assert found.agrees, x


def test_data_and_integers_are_handed_over_and_not_checked():
    leaves = {"w": torch.rand(4, 2, requires_grad=True), "i": torch.tensor([1, 1]), "x": X[:2]}
    found = finite_differences(lambda w, i, x: (w[i] * x).sum(), leaves)
    assert list(found) == ["w"]
    assert found["w"].gradient == (0, 0, 2, 4, 0, 0, 0, 0)
    assert found["w"].agrees


def test_dropout_draws_the_same_mask_each_time_and_leaves_the_generator_alone():
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    found = finite_differences(
        lambda x: torch.nn.functional.dropout(x, 0.5).sum(),
        {"x": torch.ones(20, requires_grad=True)},
    )["x"]
    assert found.agrees
    assert set(found.gradient) == {0.0, 2.0}
    assert torch.rand(1) == expected


def test_the_readers_leaves_stay_as_they_were():
    w = leaf(1.0)

    def writes(w):
        y = (w**2).sum()
        with torch.no_grad():
            w.zero_()
        return y * 1

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        finite_differences(writes, {"w": w})
    assert w.tolist() == [1]
    assert w.grad is None


def test_a_vector_is_no_result_to_check():
    with pytest.raises(ValueError, match=r"\(3,\)"):
        finite_differences(lambda x: x * X.double(), {"x": number(1.0)})


def test_a_nudge_of_w_moves_the_result_by_gradient_times_delta():
    """(w x)^2 at w = 2, x = 3: gradient 36, and exactly 9 delta^2 more."""
    found = nudge(
        lambda w, x: (w * x) ** 2, {"w": number(2.0), "x": torch.tensor(3.0)}, "w", 0.1, ()
    )
    assert found.gradient == 36
    assert (found.change, found.predicted) == (pytest.approx(3.69), pytest.approx(3.6))
    one = nudge(lambda x: (x**2).sum(), {"x": leaf(1.0, 2.0)}, "x", 1.0, (1,))
    assert (one.gradient, one.change) == (4, 5)
