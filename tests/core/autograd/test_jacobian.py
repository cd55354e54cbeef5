"""The local Jacobian, asked of the real node, against torch's own `jacobian` and closed forms."""

import pytest
import torch

from core.autograd.session import jacobian_of

ONE = torch.empty(0)


def leaf(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def matrices(function, *leaves):
    """The Jacobians of a function that is one operation, asked of its node."""
    answer = function(*(each.requires_grad_() for each in leaves))
    outputs = answer if isinstance(answer, tuple) else (answer,)
    node = outputs[0].grad_fn
    shapes = [tuple(each.shape) for each in outputs if each.grad_fn is node]
    return jacobian_of(node, shapes, outputs[0])


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 2 * gradient * x


def test_the_softmax_of_0_and_1_has_the_jacobian_p_times_delta_minus_p():
    x = leaf(0, 1)
    (matrix,) = jacobian_of(x.softmax(-1).grad_fn, [(2,)], x)
    assert torch.tensor(matrix).numpy() == pytest.approx(
        torch.tensor([[0.1966, -0.1966], [-0.1966, 0.1966]]).numpy(), abs=5e-5
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.exp(), lambda x: x.softmax(0), lambda x: x.sum(0), lambda x: x.t(),
        lambda x: x.cumsum(1), lambda x: x * x, lambda x: x[0], lambda x: x.max(),
    ],
)  # fmt: skip
def test_each_entry_is_that_of_torchs_own_jacobian(function):
    x = torch.rand(2, 3, dtype=torch.float64)
    expected = torch.autograd.functional.jacobian(function, x).reshape(-1, 6)
    found = torch.tensor(matrices(function, x), dtype=torch.float64).sum(0)  # x * x has two
    torch.testing.assert_close(found, expected)


def test_a_broadcast_input_has_as_many_columns_as_elements():
    a, b = torch.rand(2, 3), torch.rand(3)
    found = matrices(torch.mul, a, b)
    expected = torch.autograd.functional.jacobian(torch.mul, (a, b))
    torch.testing.assert_close(torch.tensor(found[0]), expected[0].reshape(6, 6))
    torch.testing.assert_close(torch.tensor(found[1]), expected[1].reshape(6, 3))


def test_of_several_outputs_the_first_is_meant():
    (values_only,) = matrices(lambda x: x.max(0), torch.arange(4.0))
    assert values_only == ((0, 0, 0, 1),)


def test_a_function_of_the_readers_own_has_one_too():
    x = leaf(1, 3)
    assert jacobian_of(Square.apply(x).grad_fn, [(2,)], x) == (((2, 0), (0, 6)),)


def test_an_input_of_more_than_256_elements_is_left_out():
    x = torch.rand(257, requires_grad=True)
    assert jacobian_of(x.sum().grad_fn, [()], ONE) == (None,)
    (row,) = jacobian_of(x[:256].detach().requires_grad_().sum().grad_fn, [()], ONE)[0]
    assert row == (1.0,) * 256


def test_asking_frees_nothing_runs_no_hook_and_fills_no_grad():
    x = leaf(1, 2)
    y = x.exp()
    calls = []
    y.grad_fn.register_hook(lambda *_: calls.append("hook"))
    for _ in range(2):
        jacobian_of(y.grad_fn, [(2,)], x)
    assert calls == []
    assert x.grad is None
    y.sum().backward()
    assert calls == ["hook"]
    assert x.grad.tolist() == y.tolist()


def test_more_than_16_outputs_have_none():
    assert jacobian_of(torch.rand(17, requires_grad=True).exp().grad_fn, [(17,)], ONE) == ()
