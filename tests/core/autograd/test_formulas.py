"""Formulas as they are written, against torch's own nodes; and with the numbers of a capture."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F  # noqa: N812  as everybody writes it

from core.autograd.capture import capture
from core.autograd.formulas import FORMULAS, described, formula_of, substituted
from core.autograd.graph import Edge, Node
from tests.core.autograd.latex import as_written, saved_by
from tests.core.autograd.real_nodes import as_node, call, info

T = torch.tensor
SHAPES = ((), (3,), (2, 3), (1, 2, 3))


def rand(*shape):
    return (torch.rand(shape, dtype=torch.float64) * 3 - 1.5).requires_grad_()


def above(*shape):
    return (torch.rand(shape, dtype=torch.float64) + 0.5).requires_grad_()


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
    real, values = call(y.grad_fn, gradient), saved_by(y.grad_fn)
    formula = FORMULAS[type(y.grad_fn).__name__]
    compared = 0
    for derivative, expected in zip(formula.inputs.values(), real, strict=False):
        if expected is not None:
            shape = tuple(expected.shape)
            found = as_written(formula, derivative, gradient.numpy(), values, shape)
            if found is not None:
                assert found.shape == shape, formula.type
                np.testing.assert_allclose(
                    found, expected.numpy(), rtol=1e-8, atol=1e-12, err_msg=formula.type
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


def leaf(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def number(value):
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def lines(y, gradient, label="", edges=()):
    """The formula of y's node, with edges that hold what the node answers unless they are given."""
    gradient = torch.as_tensor(gradient, dtype=torch.float64)
    node = as_node(y.grad_fn, gradient, label=label)
    answered = call(y.grad_fn, gradient)
    edges = edges or [
        Edge(source="n0", target=f"n{at}", input_index=at, gradient=info(each))
        for at, each in enumerate(answered)
        if each is not None
    ]
    return substituted(node, edges)


@pytest.mark.parametrize(
    ("y", "label", "expected"),
    [
        (lambda w: w * 2, "2 * w", r"\bar{w} = 14 \cdot 2 = 28"),
        (lambda w: w + 3, "w + 3", r"\bar{w} = 14"),
        (lambda w: w**2, "w ** 2", r"\bar{w} = 14 \cdot 2 \cdot (-3)^{2 - 1} = -84"),
        (lambda w: 1 - w, "1 - w", r"\bar{x} = -14"),
        (lambda w: w.abs(), "w.abs()", r"\bar{w} = 14 \cdot \operatorname{sign}(-3) = -14"),
        (lambda w: w.exp(), "exp(other(w))", r"\bar{x} = 14 \cdot 0.04979 = 0.697"),
    ],
)
def test_a_scalar_node_is_written_with_its_numbers(y, label, expected):
    found = lines(y(number(-3)), 14.0, label)
    assert found.replace("other(w)", "x") in {expected, expected.replace("{x}", r"{\text{w}}")}


def test_a_product_has_a_line_for_each_factor():
    found = lines(number(3) * number(-2), 14.0, "w * x1")
    assert r"\bar{w} = 14 \cdot (-2) = -28" in found
    assert r"\bar{x_{1}} = 14 \cdot 3 = 42" in found


def test_a_cut_input_has_no_line_and_a_broadcast_one_is_summed():
    y = leaf(1, 2) * number(3)
    cut = Edge(source="n0", target="g0", input_index=0, is_cut=True)
    summed = Edge(source="n0", target="n1", input_index=1, gradient=info(torch.tensor(3.0)))
    found = lines(y, [1.0, 1.0], "v * w", (cut, summed))
    assert r"\bar{v}" not in found
    assert found.startswith(r"\bar{w} = \sum (")
    assert found.endswith("= 3")


def test_a_large_tensor_keeps_its_letter():
    assert lines(leaf(*range(20)) * 2, torch.ones(20), "v * 2") == r"\bar{v} = \bar{y} \cdot 2"


def test_nought_over_nought_is_nan_without_a_warning():
    """Warnings are errors in this test run; torch says nothing either."""
    assert lines(number(0).sqrt(), 0.0, "w.sqrt()").lower().endswith("nan}")
    assert r"\infty" in lines(number(0).sqrt(), 1.0, "w.sqrt()")


def test_a_node_that_did_not_run_has_no_numbers():
    assert substituted(as_node((number(1) * 2).grad_fn), ()) == ""


def test_every_formula_can_be_written_and_every_type_described():
    for name in (*FORMULAS, "SvdBackward0"):
        assert name in described(Node(id="n0", type=name, label=""))
        assert "$" not in (FORMULAS[name].latex if name in FORMULAS else "")


def exceptions(function, *leaves):
    """Return type and numbers of the nodes whose formula is not written with them."""
    names = dict(zip("abc", leaves, strict=False))
    found = capture(lambda **x: (function(*x.values()) ** 2).sum(), names)
    assert found.error is None
    rows = ((node, FORMULAS.get(node.type)) for node in found.nodes if not node.leaf)
    return {
        node.type: substituted(node, found.edges)
        for node, row in rows
        if row and (row.departs or formula_of(node) is None)
    }


def test_a_formula_that_does_not_give_the_engines_gradient_is_not_written_with_numbers():
    targets, halves = torch.tensor([0, 1]), torch.tensor([0.5, 0.5])
    rows = torch.tensor([[2.0, 1.0], [0.0, 3.0]], requires_grad=True)
    ties = (leaf(2.0, 3.0), leaf(2.0, 1.0))
    table = (
        ("NllLoss", lambda x: F.nll_loss(x, targets, reduction="sum"), rows),
        ("NllLoss", lambda x: F.nll_loss(x, targets, reduction="none"), rows),
        ("NllLoss", lambda x: F.nll_loss(x, targets, torch.tensor([1.0, 3.0])), rows),
        ("NllLoss", lambda x: F.cross_entropy(x, targets, reduction="sum"), rows),
        ("Maximum", torch.maximum, *ties),
        ("Minimum", torch.minimum, *ties),
        ("Std", torch.std, leaf(2.0, 2.0)),
        ("LinalgVectorNorm", torch.linalg.vector_norm, leaf(0.0, 0.0)),
        ("Pow", lambda x: x**0, leaf(0.0, 1.0)),
        ("Elu", F.selu, leaf(-1.0, 1.0)),
        ("Gelu", lambda x: F.gelu(x, approximate="tanh"), leaf(-1.0, 1.0)),
        (
            "BinaryCrossEntropyWithLogits",
            lambda x: F.binary_cross_entropy_with_logits(x, halves, pos_weight=halves),
            leaf(0.5, 2.0),
        ),
    )
    for kind, function, *leaves in table:
        found = exceptions(function, *leaves)
        assert list(found) == [f"{kind}Backward0"], kind
        assert all(r"\cdot" not in text for text in found.values()), "the engine's number alone"
    (numbers,) = exceptions(torch.maximum, *ties).values()  # 2 max = 4, and 6; half of the 4 each
    assert r"\bar{a} = \begin{bmatrix} 2 & 6 \end{bmatrix}" in numbers
    assert r"\bar{b} = \begin{bmatrix} 2 & 0 \end{bmatrix}" in numbers


def test_a_formula_that_gives_it_is_written_with_numbers():
    losses = (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.binary_cross_entropy_with_logits, F.kl_div)
    functions = [UNARY[key] for key in UNARY if key not in {"tanh-Gelu", "Selu", "Zeroth"}]
    functions += [
        lambda x, f=loss, r=reduction: f(x, torch.full_like(x, 0.3), reduction=r)
        for loss in losses
        for reduction in ("mean", "sum", "none")
    ]
    for at, function in enumerate(functions):
        x = torch.linspace(-1.4, 1.5, 9, dtype=torch.float64).reshape(3, 3).requires_grad_()
        departs = {"LinalgVectorNormBackward0", "PowBackward2"}
        assert exceptions(function, x).keys() <= departs, at


def test_only_what_takes_a_gradient_has_a_line_and_each_input_of_a_list_has_its_own():
    found = capture(
        lambda a, b: torch.cat([a + torch.ones(1), b]).sum(), {"a": leaf(1), "b": leaf(2)}
    )
    written = {node.type: substituted(node, found.edges) for node in found.nodes if not node.leaf}
    assert r"\bar{b}" not in written["AddBackward0"]
    assert r"\bar{x_{0}}" in written["CatBackward0"]
    assert r"\bar{x_{1}}" in written["CatBackward0"]
