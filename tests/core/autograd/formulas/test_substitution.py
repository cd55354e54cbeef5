"""A node's numbers in its formula: they are those that torch's own node gives."""

import pytest
import torch

from core.autograd.formulas import FORMULAS, describe, formula_of, substituted
from core.autograd.graph import Edge
from tests.core.autograd.real_nodes import as_node, info


def leaf(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def number(value):
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def lines(y, gradient, label="", edges=()):
    return substituted(as_node(y.grad_fn, torch.as_tensor(gradient), label=label), edges)


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
    assert substituted(as_node((number(1) * 2).grad_fn)) == ""


def test_every_formula_can_be_written_and_described():
    for name, formula in FORMULAS.items():
        assert "$" not in formula.latex, name
        assert name in describe(name)
    assert len(FORMULAS) >= 50


def test_a_type_without_a_formula_is_described_too():
    assert formula_of("SvdBackward0") is None
    assert "SvdBackward0" in describe("SvdBackward0")
