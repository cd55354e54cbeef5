"""Graphs that are built: their ranges, their memory, and the nodes that their number makes."""

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from core.autograd.built_graphs import (
    BUILT_GRAPHS,
    MAX_BYTES,
    BuiltGraph,
    Made,
    capture_built,
    check_memory,
)
from core.autograd.differences import finite_differences, module_differences


def types(key, number):
    return Counter(node.type for node in capture_built(BUILT_GRAPHS[key], number).nodes)


@pytest.mark.parametrize("key", BUILT_GRAPHS)
def test_a_number_outside_of_its_range_is_refused_with_the_range(key):
    row = BUILT_GRAPHS[key]
    assert row.low <= row.default <= row.high
    for number in (row.low - 1, row.high + 1):
        with pytest.raises(ValueError, match=re.escape(f"{number} is outside {row.low}")):
            capture_built(row, number)


@pytest.mark.parametrize("key", BUILT_GRAPHS)
def test_the_highest_number_of_a_graph_stays_below_the_limit(key):
    row = BUILT_GRAPHS[key]
    assert 0 <= check_memory(lambda: row.make(row.high)) <= MAX_BYTES


def test_memory_is_counted_as_values_and_their_gradients():
    def make():
        module = nn.Linear(8, 4, bias=False)
        return Made(function=lambda x: module(x).exp(), leaves={"x": torch.ones(2, 8)},
                    module=module)  # fmt: skip

    made = 2 * 4 * 4  # bytes of the product, and as many of its exponential
    assert check_memory(make) == 2 * (2 * made + 8 * 4 * 4)


def test_a_graph_that_is_too_large_is_refused_before_anything_is_allocated():
    devices = []

    def make(number):
        x = torch.ones(number)
        devices.append(x.device.type)
        return Made(function=lambda x: x.exp().sum(), leaves={"x": x})

    row = BuiltGraph(key="large", title="", number="", low=1, high=10**12, default=1, make=make)
    with pytest.raises(ValueError, match=r"takes about .*; the limit is"):
        capture_built(row, 10**12)
    assert devices == ["meta"]


def test_a_loop_has_a_product_and_a_tanh_for_each_turn():
    for turns in (1, 3, 30):
        wanted = {"AccumulateGrad": 1, "MulBackward0": turns, "TanhBackward0": turns}
        assert types("loop", turns) == wanted, turns
    w = 1.5
    slope = (1 - torch.tanh(torch.tensor(w * w, dtype=torch.float64)) ** 2) * 2 * w
    once = capture_built(BUILT_GRAPHS["loop"], 1)
    assert once.leaves["w"].gradient == pytest.approx(float(slope), rel=1e-5)


def test_a_branch_records_only_the_side_that_was_taken():
    assert "PowBackward0" in types("branch", 2)
    assert "PowBackward0" not in types("branch", -2)
    gradients = [capture_built(BUILT_GRAPHS["branch"], x).leaves["x"].gradient for x in (2, 0, -2)]
    assert gradients == [2 * 2, -3, -3]


def test_a_wrong_backward_is_drawn_as_it_is_and_found_by_differences():
    row = BUILT_GRAPHS["wrong_backward"]
    found = capture_built(row, 2)
    assert found.leaves["x"].gradient == 3 * 2
    made = row.make(2)
    difference = finite_differences(made.function, made.leaves)["x"]
    assert difference.is_wrong
    assert difference.estimate == (pytest.approx(3 * 2**2),)
    right = row.make(1)  # 3 x and 3 x ** 2 are the same at 1
    assert finite_differences(right.function, right.leaves)["x"].agrees


def test_flops_of_two_products_are_those_of_the_shapes():
    found = capture_built(BUILT_GRAPHS["two_products"], 2)
    products = [node for node in found.nodes if node.type == "MmBackward0"]
    assert [node.flops_forward for node in products] == [2 * 2 * 4 * 8, 2 * 2 * 8 * 3]
    # x requires no gradient: the first product has one product in backward, the second two
    assert [node.flops_backward for node in products] == [2 * 2 * 4 * 8, 2 * 2 * 2 * 8 * 3]


def test_autocast_casts_are_nodes_and_products_are_in_bfloat16():
    found = capture_built(BUILT_GRAPHS["autocast"], 8)
    products = [node for node in found.nodes if node.type == "AddmmBackward0"]
    assert [node.outputs[0].dtype for node in products] == ["bfloat16", "bfloat16"]
    assert sum(node.type == "ToCopyBackward0" for node in found.nodes) >= 4  # weights and biases
    assert {leaf.grad.dtype for leaf in found.leaves.values() if leaf.grad} == {"float32"}


def test_checkpointing_changes_what_is_kept_and_not_the_gradients():
    plain, checkpointed = (
        capture_built(BUILT_GRAPHS[key], 2) for key in ("gpt", "gpt_checkpointed")
    )
    kinds = {saved.kind for node in checkpointed.nodes for saved in node.saved}
    assert "packed" in kinds
    assert [event.kind for event in checkpointed.events].count("recompute") == 2
    assert "recompute" not in [event.kind for event in plain.events]
    for name, leaf in plain.leaves.items():
        other = checkpointed.leaves[name]
        assert (leaf.grad is None) == (other.grad is None), name
        if leaf.grad is not None:
            norm = leaf.grad.statistics.norm
            assert other.grad.statistics.norm == pytest.approx(norm, rel=1e-4), name
    held = [
        next(e.saved_bytes for e in each.events if e.kind == "seed")
        for each in (plain, checkpointed)
    ]
    assert held[1] < held[0] / 2


@pytest.mark.parametrize("key", BUILT_GRAPHS)
def test_the_memory_of_a_graph_is_found_without_a_draw(key):
    row = BUILT_GRAPHS[key]
    before = torch.get_rng_state()
    check_memory(lambda: row.make(row.default))
    assert torch.equal(torch.get_rng_state(), before)  # another thread may be drawing


def test_threads_that_make_graphs_at_once_get_the_same_numbers():
    row = BUILT_GRAPHS["two_products"]
    wanted = capture_built(row, 3).leaves["w1"].gradient
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _turn: capture_built(row, 3), range(40)))
    for each in found:  # with fewer helper threads sums have another order
        assert_allclose(each.leaves["w1"].gradient, wanted, rtol=1e-4, atol=1e-6)


def test_hooks_are_told_in_the_order_in_which_torch_runs_them():
    """Tensor hooks, what is retained, pre-hooks, the node, its hooks; last those of the leaf."""
    found = capture_built(BUILT_GRAPHS["hooks"], 3)
    by_label = {node.label: node for node in found.nodes}
    product, w = by_label["w * x"], by_label["w"]
    told = [(event.kind, event.node, event.text.partition("(")[0]) for event in found.events]
    first = next(at for at, each in enumerate(told) if each[0] == "hook")
    assert told[first:] == [
        ("hook", product.id, "y.register_hook"),
        ("hook", product.id, "retain_grad"),
        ("hook", product.id, "y.grad_fn.register_prehook"),
        ("node", product.id, ""),
        ("hook", product.id, "y.grad_fn.register_hook"),
        ("release", product.id, ""),
        ("accumulate", w.id, ""),
        ("hook", w.id, "w.register_post_accumulate_grad_hook"),
    ]
    assert found.events[-1].waiting == (), "the leaf has run and waits no more"
    (brought,) = [edge.gradient.nested for edge in found.edges if edge.target == product.id]
    assert (brought, product.gradients_in[0].nested) == (2 * 2 * 3, 3 * brought)
    assert found.leaves["w"].gradient == 3 * brought * 3


@pytest.mark.parametrize("key", [key for key, row in BUILT_GRAPHS.items() if not row.unchecked])
def test_gradients_of_a_built_graph_are_the_slopes_between_nearby_weights(key):
    row = BUILT_GRAPHS[key]
    made = row.made(max(row.low, 2) if made_with_module(row) else row.default)
    if made.module is None:
        found = finite_differences(made.function, made.leaves)
    else:
        found = module_differences(made)
        inputs = {name for name, x in made.leaves.items() if x.requires_grad}
        assert set(found) == inputs | {name for name, _x in made.module.named_parameters()}
    wrong = {name for name, each in found.items() if not each.agrees}
    assert wrong == {"wrong_backward": {"x"}, "hooks": {"w"}}.get(key, set())
    assert {name for name, each in found.items() if each.reason} == wrong - {"x"}  # of the hook


def made_with_module(row):
    return row.made(row.low).module is not None


def test_a_module_is_as_it_was_after_its_weights_were_moved():
    made = BUILT_GRAPHS["gpt"].made(1)
    before = dict(made.module.named_parameters())
    values = {name: x.detach().clone() for name, x in before.items()}
    module_differences(made)
    after = dict(made.module.named_parameters())
    assert after.keys() == before.keys()
    assert all(after[name] is x and torch.equal(x, values[name]) for name, x in before.items())
    assert all(x.grad is None for x in made.module.parameters())
