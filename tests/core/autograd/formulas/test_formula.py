"""Each formula against torch's own node, called with a random gradient."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F  # noqa: N812  as everybody writes it

from core.autograd.formulas import FORMULAS, node_values
from core.autograd.formulas.node_values import array_of
from tests.core.autograd.real_nodes import as_node, call

SHAPES = st.lists(st.integers(1, 4), max_size=3).map(tuple)
T = torch.tensor
INDEX = T([[0, 2], [1, 1]])


def rand(*shape):
    return (torch.rand(shape, dtype=torch.float64) * 3 - 1.5).requires_grad_()


def above(*shape):
    return (torch.rand(shape, dtype=torch.float64) + 0.5).requires_grad_()


def ties(*shape):
    return torch.randint(-1, 2, shape).double().requires_grad_()


def compare(y, num_outputs=1, unused=(), shapes=None):
    """Assert that the formula of y's node agrees with the node; return its type."""
    torch_node = y.grad_fn
    gradients = [
        None if number in unused else torch.randn(y.shape, dtype=torch.float64)
        for number in range(num_outputs)
    ]
    real = call(torch_node, *gradients)
    node = as_node(torch_node, *gradients)
    arrays = tuple(array_of(each) for each in node.gradients_in)
    values = dict(node_values(node)) | ({"input_shapes": shapes} if shapes else {})
    ours = FORMULAS[node.type].vjp(arrays[0] if num_outputs == 1 else arrays, values)
    assert len(ours) == len(real), node.type
    compared = 0
    for mine, expected in zip(ours, real, strict=True):
        if expected is not None:
            assert mine is not None, node.type
            assert mine.shape == tuple(expected.shape), node.type
            np.testing.assert_allclose(
                mine, expected.numpy(), rtol=1e-9, atol=1e-12, err_msg=node.type
            )
            compared += 1
    assert compared, node.type
    return node.type


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


@pytest.mark.parametrize("name", UNARY)
@settings(max_examples=20)
@given(shape=SHAPES)
def test_a_function_of_one_tensor_hands_back_what_torch_does(name, shape):
    compare(UNARY[name](rand(*shape)))
    compare(UNARY[name](ties(*shape)))


@pytest.mark.parametrize("name", POSITIVE)
@settings(max_examples=20)
@given(shape=SHAPES)
def test_a_function_of_positive_numbers_hands_back_what_torch_does(name, shape):
    compare(POSITIVE[name](above(*shape)))


@pytest.mark.parametrize("name", BINARY)
@settings(max_examples=20)
@given(shape=SHAPES)
def test_a_function_of_two_tensors_hands_back_what_torch_does(name, shape):
    compare(BINARY[name](above(*shape), above(*shape)))


@pytest.mark.parametrize("name", ["Add", "Mul", "Div", "Pow", "Maximum", "Where"])
@settings(max_examples=20)
@given(shape=SHAPES)
def test_broadcast_inputs_get_gradients_that_are_not_summed_yet(name, shape):
    compare(BINARY[name](above(*shape), above(2, *shape)))


@pytest.mark.parametrize("name", ROWS)
def test_a_function_along_axes_hands_back_what_torch_does(name):
    compare(ROWS[name](rand(2, 3, 4)))
    compare(ROWS[name](ties(2, 3, 4)))


@settings(max_examples=20)
@given(n=st.integers(1, 4), k=st.integers(1, 4), m=st.integers(1, 4), b=st.integers(1, 3))
def test_products_hand_back_what_torch_does(n, k, m, b):
    compare(rand(n, k) @ rand(k, m))
    compare(rand(n, k) @ rand(k))
    compare(rand(k).dot(rand(k)))
    compare(torch.bmm(rand(b, n, k), rand(b, k, m)))
    compare(torch.addmm(rand(m), rand(n, k), rand(k, m), beta=2, alpha=3))
    compare(torch.addmv(rand(n), rand(n, k), rand(k), alpha=0.5))
    compare(torch.baddbmm(rand(b, n, m), rand(b, n, k), rand(b, k, m), beta=0.5))
    compare(rand(b, n, k) @ rand(k, m))


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.3}])
def test_attention_hands_back_what_torch_does(options):
    q, k, v = rand(2, 3, 5, 4), rand(2, 3, 5, 4), rand(2, 3, 5, 4)
    compare(F.scaled_dot_product_attention(q, k, v, **options))


def test_attention_with_a_mask_hands_back_what_torch_does():
    q, k, v = rand(1, 2, 4, 4), rand(1, 2, 4, 4), rand(1, 2, 4, 4)
    keep = torch.ones(4, 4, dtype=torch.bool).tril()
    compare(F.scaled_dot_product_attention(q, k, v, attn_mask=keep))
    compare(F.scaled_dot_product_attention(q, k, v, attn_mask=torch.randn(4, 4).double()))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weight", [None, T([0.5, 2.0, 1.0]).double()])
def test_likelihood_hands_back_what_torch_does(reduction, weight):
    options = {"reduction": reduction, "weight": weight}
    compare(F.nll_loss(rand(4, 3), T([0, 2, 1, 2]), **options))
    compare(F.nll_loss(rand(4, 3), T([0, -100, 1, 2]), **options))
    compare(F.nll_loss(rand(3), T(2), **options))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_weighted_binary_cross_entropy_hands_back_what_torch_does(reduction):
    pos_weight, weight = above(3).detach(), above(2, 3).detach()
    compare(
        F.binary_cross_entropy_with_logits(
            rand(2, 3), above(2, 3), weight, pos_weight=pos_weight, reduction=reduction
        )
    )


def test_layer_norm_hands_back_what_torch_does():
    compare(F.layer_norm(rand(2, 5, 3), (3,), rand(3), rand(3)))
    compare(F.layer_norm(rand(2, 5, 3), (5, 3), rand(5, 3), rand(5, 3)))
    compare(F.layer_norm(rand(2, 3), (3,), rand(3)))


def test_an_embedding_adds_up_the_gradients_of_a_token_that_occurs_twice():
    compare(F.embedding(INDEX, rand(4, 3)))
    compare(F.embedding(INDEX, rand(4, 3), padding_idx=1))
    compare(F.embedding(INDEX, rand(4, 3), scale_grad_by_freq=True))


def test_parts_that_nothing_used_count_as_zeros():
    compare(rand(2, 4).split(2, -1)[0], 2, unused=(1,))
    compare(rand(2, 4).split(2, -1)[1], 2)
    compare(rand(2, 4).split([2, 2], -1)[1], 2, unused=(0,))
    compare(rand(3, 2).unbind(0)[0], 3, unused=(1,))


def test_a_concatenation_is_cut_where_it_was_joined():
    a, b = rand(2, 3), rand(2, 1)
    assert compare(torch.cat([a, b, a], -1), shapes=((2, 3), (2, 1), (2, 3))) == "CatBackward0"


def test_a_filled_mask_gives_its_number_the_sum():
    compare(rand(2, 3).masked_fill(T([[True, False, True], [False, True, False]]), rand()))


def test_a_cast_hands_back_the_gradient_in_the_old_format():
    x = rand(2, 3)
    y = x.float()
    assert type(y.grad_fn).__name__ == "ToCopyBackward0"
    expected = call(y.grad_fn, torch.ones(2, 3))[0]
    assert expected.dtype == torch.float64
    assert FORMULAS["ToCopyBackward0"].vjp(np.ones((2, 3)), {})[0].tolist() == expected.tolist()


def test_an_input_whose_partner_was_not_saved_has_no_gradient():
    torch_node = (rand(2) * T([2.0, 3.0]).double()).grad_fn
    gradients = FORMULAS["MulBackward0"].vjp(
        np.ones(2), node_values(as_node(torch_node, torch.ones(2)))
    )
    assert gradients[0].tolist() == [2, 3]
    assert gradients[1] is None


def test_a_line_of_latex_has_its_letters():
    formula = FORMULAS["MulBackward0"]
    assert formula.backward == (r"\bar{a} = \bar{y} \cdot b", r"\bar{b} = \bar{y} \cdot a")
    assert formula.saved == ("other", "self")
    assert FORMULAS["ExpBackward0"].latex == r"\bar{x} = \bar{y} \cdot y"
