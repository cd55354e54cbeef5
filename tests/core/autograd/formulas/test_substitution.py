"""A node's numbers in its formula: they are those that torch's own node gives."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from core.autograd.capture import capture
from core.autograd.formulas.as_written import as_written
from core.autograd.formulas.substitution import holds, substituted
from core.autograd.formulas.table import FORMULAS, describe, formula_of
from core.autograd.graph import Edge
from tests.core.autograd.formulas.test_formula import UNARY
from tests.core.autograd.real_nodes import as_node, call, info


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


def test_every_formula_can_be_written_and_described():
    for name, formula in FORMULAS.items():
        assert "$" not in formula.latex, name
        assert name in describe(name)
    assert len(FORMULAS) >= 50


def test_a_type_without_a_formula_is_described_too():
    assert formula_of("SvdBackward0") is None
    assert "SvdBackward0" in describe("SvdBackward0")


def not_holding(function, *leaves):
    """Return type and numbers of the nodes whose formula is not shown."""
    names = dict(zip("abc", leaves, strict=False))
    found = capture(lambda **x: (function(*x.values()) ** 2).sum(), names)
    assert found.error is None
    return {
        node.type: substituted(node, found.edges)
        for node in found.nodes
        if not node.leaf and formula_of(node.type) and not holds(node, found.edges)
    }


def test_a_formula_that_does_not_give_the_engines_gradient_is_not_shown():
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
        found = not_holding(function, *leaves)
        assert list(found) == [f"{kind}Backward0"], kind
        assert all(r"\cdot" not in text for text in found.values()), "the engine's number alone"
    (numbers,) = not_holding(torch.maximum, *ties).values()  # 2 max = 4, and 6; half of the 4 each
    assert r"\bar{a} = \begin{bmatrix} 2 & 6 \end{bmatrix}" in numbers
    assert r"\bar{b} = \begin{bmatrix} 2 & 0 \end{bmatrix}" in numbers


def test_a_formula_that_gives_it_is_shown():
    losses = (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.binary_cross_entropy_with_logits, F.kl_div)
    functions = [UNARY[key] for key in UNARY if key not in {"tanh-Gelu", "Selu"}]
    functions += [
        lambda x, f=loss, r=reduction: f(x, torch.full_like(x, 0.3), reduction=r)
        for loss in losses
        for reduction in ("mean", "sum", "none")
    ]
    functions += [lambda x, d=dim: x.sum(d) * x.std(d) for dim in (0, 1)]
    for at, function in enumerate(functions):
        x = torch.linspace(-1.4, 1.5, 9, dtype=torch.float64).reshape(3, 3).requires_grad_()
        assert not_holding(function, x) == {}, at


@pytest.mark.filterwarnings("ignore:var")
def test_a_formula_holds_for_a_number_and_where_its_terms_cancel():
    rows = torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]], requires_grad=True)  # float32
    for at, (function, x) in enumerate(
        [
            (lambda x: x.flip(0), number(2)),
            (lambda x: x.gather(0, torch.tensor([0, 0])), number(2)),
            (lambda x: x.gather(0, torch.tensor(1)), leaf(2.0, 3.0)),
            (lambda x: x.var(), number(2)),
            (lambda x: x.softmax(1), rows),
            (lambda x: x.log_softmax(1), rows),
            (lambda x: F.layer_norm(x, (3,)), rows),
        ]
    ):
        assert not_holding(function, x) == {}, at


def test_arithmetic_is_read_from_its_letters_and_notation_is_not_computed():
    """By hand: the slope of a / b by b is -a / b^2, at (3, 2) times 4 that is -3."""
    divided, summed = FORMULAS["DivBackward0"], FORMULAS["ExpandBackward0"]
    values = {"self": np.array(3.0), "other": np.array(2.0)}
    assert as_written(divided, divided.inputs["b"], np.array(4.0), values, ()) == -3
    assert as_written(summed, summed.inputs["x"], np.array(4.0), {}, ()) is None


def test_only_what_takes_a_gradient_has_a_line_and_each_input_of_a_list_has_its_own():
    found = capture(
        lambda a, b: torch.cat([a + torch.ones(1), b]).sum(), {"a": leaf(1), "b": leaf(2)}
    )
    written = {node.type: substituted(node, found.edges) for node in found.nodes if not node.leaf}
    assert r"\bar{b}" not in written["AddBackward0"]
    assert r"\bar{x_{0}}" in written["CatBackward0"]
    assert r"\bar{x_{1}}" in written["CatBackward0"]
