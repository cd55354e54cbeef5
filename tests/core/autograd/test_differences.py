"""Finite differences against closed forms, and against backwards that are wrong on purpose."""

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
    assert not found.at_kink


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
        assert not found.agrees, size
        assert not found.at_kink, size
        assert found.relative_error == pytest.approx(0.5, rel=1e-3), size


def test_detached_values_have_a_slope_that_autograd_does_not_see():
    found = finite_differences(lambda x: (x.detach() * 3).sum(), {"x": leaf(1.0, 2.0)})["x"]
    assert found.gradient == (0, 0)
    assert found.estimate == pytest.approx((3, 3))
    assert not found.agrees


def test_a_leaf_that_is_the_result_itself_has_the_slope_1():
    found = finite_differences(lambda w: w, {"w": number(2.0)})["w"]
    assert found.gradient == (1,)
    assert found.agrees


@pytest.mark.parametrize("function", [torch.relu, torch.abs, lambda x: x.abs().sqrt()])
def test_a_kink_is_seen(function):
    found = finite_differences(lambda x: function(x).sum(), {"x": leaf(0.0)})["x"]
    assert found.at_kink


def test_autograd_takes_0_for_relu_at_0_where_differences_say_a_half():
    found = finite_differences(lambda x: x.relu().sum(), {"x": leaf(0.0)})["x"]
    assert found.gradient == (0,)
    assert found.estimate == pytest.approx((0.5,))
    assert not found.agrees


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_strong_curvature_is_no_kink(scale):
    for x in (0.0, 1.0, 1000.0):
        found = finite_differences(lambda x: (scale * x**2).sum(), {"x": leaf(x)})["x"]
        assert not found.at_kink, x
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


def test_no_result_holds_a_tensor():
    found = finite_differences(squared_error, {"w": leaf(0.5)})["w"]
    assert all(type(each) is float for each in (*found.gradient, *found.estimate))
    assert type(found.relative_error) is float
    assert type(found.agrees) is bool


def test_a_vector_is_no_result_to_check():
    with pytest.raises(ValueError, match=r"\(3,\)"):
        finite_differences(lambda x: x * X.double(), {"x": number(1.0)})


def test_a_nudge_of_w_moves_the_result_by_gradient_times_delta():
    """(w x)^2 at w = 2, x = 3: gradient 36, and exactly 9 delta^2 more."""
    found = nudge(lambda w, x: (w * x) ** 2, {"w": number(2.0), "x": torch.tensor(3.0)}, "w", 0.1)
    assert (found.before, found.gradient) == (36, 36)
    assert found.after == pytest.approx(39.69)
    assert found.change == pytest.approx(3.69)
    assert found.predicted == pytest.approx(3.6)
    assert found.error == pytest.approx(-9 * 0.1**2)


def test_data_can_be_nudged_too():
    leaves = {"w": number(2.0), "x": torch.tensor(3.0)}
    assert nudge(lambda w, x: w * x, leaves, "x", 0.5).gradient == 2
    assert not leaves["x"].requires_grad


def test_one_element_is_nudged_or_all():
    leaves = {"x": leaf(1.0, 2.0)}
    one = nudge(lambda x: (x**2).sum(), leaves, "x", 1.0, place=(1,))
    both = nudge(lambda x: (x**2).sum(), leaves, "x", 1.0)
    assert (one.gradient, one.change) == (4, 5)
    assert (both.gradient, both.change) == (6, 8)


@pytest.mark.parametrize("name", ["b", "i"])
def test_only_leaves_of_real_numbers_can_be_nudged(name):
    leaves = {"w": number(1.0), "i": torch.tensor(3)}
    with pytest.raises(ValueError, match=f"{name} cannot be changed.* w"):
        nudge(lambda w, i: w * i, leaves, name, 0.1)
