"""Formulas as they are written, against torch's own nodes, called with a random gradient."""

import numpy as np
import torch
from torch.nn import functional as F  # noqa: N812  as everybody writes it

from core.autograd.formulas.as_written import as_written
from core.autograd.formulas.node_values import array_of, node_values
from core.autograd.formulas.table import FORMULAS
from tests.core.autograd.real_nodes import as_node, call

T = torch.tensor
SHAPES = ((), (3,), (2, 3), (1, 2, 3))


def rand(*shape):
    return (torch.rand(shape, dtype=torch.float64) * 3 - 1.5).requires_grad_()


def above(*shape):
    return (torch.rand(shape, dtype=torch.float64) + 0.5).requires_grad_()


def ties(*shape):
    return torch.randint(-1, 2, shape).double().requires_grad_()


UNARY = {
    "Abs": torch.abs, "Neg": torch.neg, "Clone": torch.clone, "Exp": torch.exp,
    "Exp2": torch.exp2, "Expm1": torch.expm1, "Sin": torch.sin, "Cos": torch.cos,
    "Tan": torch.tan, "Atan": torch.atan, "Tanh": torch.tanh, "Erf": torch.erf,
    "Sigmoid": torch.sigmoid, "LogSigmoid": F.logsigmoid, "Silu": F.silu, "Gelu": F.gelu,
    "tanh-Gelu": lambda x: F.gelu(x, approximate="tanh"), "Softplus": F.softplus,
    "steep Softplus": lambda x: F.softplus(x, beta=30), "Sign": torch.sign, "Relu": torch.relu,
    "LeakyRelu": F.leaky_relu, "Elu": F.elu, "Selu": F.selu, "Hardtanh": F.hardtanh,
    "Clamp": lambda x: x.clamp(-0.5, 0.7), "Clamp from": lambda x: torch.clamp(x, min=0.1),
    "ClampMin": lambda x: x.clamp_min(0.1), "ClampMax": lambda x: x.clamp_max(0.1),
    "Add": lambda x: x + 3, "alpha": lambda x: torch.add(x, x * 1, alpha=3),
    "Sub": lambda x: torch.sub(x, x * 1, alpha=2), "Rsub": lambda x: 1 - x,
    "Mul": lambda x: 2 * x, "Div": lambda x: x / 4, "Square": lambda x: x**2,
    "Cube": lambda x: x**3, "Zeroth": lambda x: x**0, "Base": lambda x: 2**x,
    "MaskedFill": lambda x: x.masked_fill(x > 0, 7.0),
    "Sum": torch.sum, "Mean": torch.mean, "Max": torch.max, "Min": torch.min, "Prod": torch.prod,
    "View": lambda x: x.view(-1), "T": lambda x: x.flatten()[None].t(),
    "Unsqueeze": lambda x: x.unsqueeze(-1), "Squeeze": torch.squeeze,
    "Norm": torch.linalg.vector_norm, "Norm 1": lambda x: torch.linalg.vector_norm(x, 1),
    "Norm 3": lambda x: torch.linalg.vector_norm(x, 3),
    "Norm inf": lambda x: torch.linalg.vector_norm(x, float("inf")),
    "Amax": torch.amax, "Roll": lambda x: x.roll(1), "Expand": lambda x: x.expand(2, *x.shape),
    "Repeat": lambda x: x.repeat(2, *[3 for _ in x.shape]),
}  # fmt: skip
POSITIVE = {
    "Sqrt": torch.sqrt, "Rsqrt": torch.rsqrt, "Log": torch.log, "Log2": torch.log2,
    "Log1P": torch.log1p, "Reciprocal": torch.reciprocal, "Pow -1.5": lambda x: x**-1.5,
    "Logsumexp": lambda x: x.logsumexp(tuple(range(x.ndim))),
}  # fmt: skip
BINARY = {
    "Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Div": torch.div, "Pow": torch.pow,
    "Maximum": torch.maximum, "Minimum": torch.minimum, "Mse": F.mse_loss,
    "Mse sum": lambda a, b: F.mse_loss(a, b, reduction="sum"),
    "Mse none": lambda a, b: F.mse_loss(a, b, reduction="none"), "SmoothL1": F.smooth_l1_loss,
    "Where": lambda a, b: torch.where(a > 1, a, b), "Lerp": lambda a, b: torch.lerp(a, b, 0.3),
    "Bce": F.binary_cross_entropy_with_logits,
    "Addcmul": lambda a, b: torch.addcmul(a, a, b, value=2),
    "Stack": lambda a, b: torch.stack([a, b, a], -1),
}  # fmt: skip
ROWS = {
    "Sum": lambda x: x.sum(-1), "Sum keep": lambda x: x.sum((0, 2), keepdim=True),
    "Mean": lambda x: x.mean(1), "Mean keep": lambda x: x.mean((-1, -2), keepdim=True),
    "Amax": lambda x: x.amax(-1), "Amin": lambda x: x.amin((0, 1), keepdim=True),
    "Max": lambda x: x.max(-1)[0], "Min": lambda x: x.min(0, keepdim=True)[0],
    "Sort": lambda x: x.sort(1)[0], "Topk": lambda x: x.topk(2, -1)[0],
    "Prod": lambda x: x.prod(-1), "Prod keep": lambda x: x.prod(0, keepdim=True),
    "Cumsum": lambda x: x.cumsum(-1), "Std": torch.std, "Std row": lambda x: x.std(-1),
    "Std n": lambda x: x.std((0, 1), unbiased=False), "Var": torch.var,
    "Var row": lambda x: x.var(-1, keepdim=True), "Var n": lambda x: x.var(1, correction=0),
    "Logsumexp": lambda x: x.logsumexp(-1), "Softmax": lambda x: x.softmax(-1),
    "Softmax 0": lambda x: x.softmax(0), "SafeSoftmax": lambda x: torch._safe_softmax(x, -1),
    "LogSoftmax": lambda x: x.log_softmax(-1),
    "Norm rows": lambda x: torch.linalg.vector_norm(x, dim=-1, keepdim=True),
    "Transpose": lambda x: x.transpose(0, -1), "Permute": lambda x: x.permute(2, 0, -2),
    "Flip": lambda x: x.flip(0, -1), "Roll": lambda x: x.roll((1, -2), (0, -1)),
    "Select": lambda x: x[:, -1], "Slice": lambda x: x[:, 1:3], "Step": lambda x: x[..., ::2],
    "Before the end": lambda x: x[:-1],
    "Diagonal": lambda x: x.diagonal(1, -2, -1), "Tril": torch.tril,
    "Triu": lambda x: x.triu(1), "Index": lambda x: x[T([1, 0, 1])],
    "Boolean": lambda x: x[torch.ones(2, dtype=torch.bool)],
    "Squeeze 1": lambda x: x[None].squeeze(0),
    "Squeeze 2": lambda x: x[None].squeeze((0, 1)), "Reshape": lambda x: x.mT.reshape(-1),
    "Gather": lambda x: x.gather(-1, T([[[0, 2], [1, 1], [3, 3]]])),
    "Clamp": lambda x: x.clamp(-0.5, 0.5), "To": lambda x: x.to(torch.float64, copy=True),
    "Alias": torch.ops.aten.alias,
}  # fmt: skip


def compare(y):
    """Assert that what y's formula says is what y's node answers; return how many it says.

    To 1e-8: above its threshold of 20 torch's softplus takes 1 for a slope of 1 - 2e-9.
    """
    gradient = torch.randn(y.shape, dtype=torch.float64)
    node, real = as_node(y.grad_fn, gradient), call(y.grad_fn, gradient)
    formula, values = FORMULAS[node.type], node_values(node)
    compared = 0
    for derivative, expected in zip(formula.inputs.values(), real, strict=False):
        if expected is not None:
            came_in, shape = array_of(node.gradients_in[0]), tuple(expected.shape)
            found = as_written(formula, derivative, came_in, values, shape)
            if found is not None:
                assert found.shape == shape, node.type
                np.testing.assert_allclose(
                    found, expected.numpy(), rtol=1e-8, atol=1e-12, err_msg=node.type
                )
                compared += 1
    return compared


def computed(functions, *arguments):
    """Names of the functions whose formula was computed, each compared with its node."""
    return {name for name, function in functions.items() if compare(function(*arguments))}


def test_a_formula_of_one_tensor_says_what_torch_does():
    other = {"tanh-Gelu", "Selu"}  # for which the formula does not hold, and is left out
    notation = {
        "View", "Unsqueeze", "Squeeze", "Roll", "Expand", "Repeat", "Prod", "Max", "Min",
        "Amax", "Clamp from",
    }  # fmt: skip
    asked = {name: function for name, function in UNARY.items() if name not in other}
    for shape in SHAPES:
        assert computed(asked, rand(*shape)) == asked.keys() - notation, shape
        assert computed(POSITIVE, above(*shape)) == POSITIVE.keys(), shape


def test_a_formula_of_two_tensors_says_what_torch_does_before_the_sum_of_what_was_broadcast():
    for shape in SHAPES:
        found = computed(BINARY, above(*shape), above(*shape))
        assert found == BINARY.keys() - {"Stack"}, shape
        for name in ("Add", "Mul", "Div", "Pow", "Maximum", "Where"):
            assert compare(BINARY[name](above(*shape), above(2, *shape))), (name, shape)


def test_a_formula_along_axes_says_what_torch_does():
    found = computed(ROWS, rand(2, 3, 4))
    assert found >= {
        "Sum", "Sum keep", "Mean", "Mean keep", "Std", "Std row", "Std n", "Var", "Var row",
        "Var n", "Logsumexp", "Norm rows", "Clamp", "To", "Alias",
    }  # fmt: skip


def test_products_say_what_torch_does():
    assert compare(rand(2, 3) @ rand(3, 4)) == 2
    assert compare(rand(3).dot(rand(3))) == 2
    assert compare(torch.bmm(rand(2, 1, 3), rand(2, 3, 4))) == 2
    assert compare(torch.addmm(rand(4), rand(2, 3), rand(3, 4), beta=2, alpha=3)) == 3
    assert compare(torch.baddbmm(rand(2, 1, 4), rand(2, 1, 3), rand(2, 3, 4), beta=0.5)) == 3


def test_a_line_of_latex_has_its_letters():
    formula = FORMULAS["MulBackward0"]
    both = r"\bar{a} = \bar{y} \cdot b \qquad \bar{b} = \bar{y} \cdot a"
    assert (formula.latex, formula.saved) == (both, ("other", "self"))
