"""Collapsed graphs: sums are kept, no circle is made, and too much collapses by itself."""

from dataclasses import replace
from graphlib import TopologicalSorter

import pytest

from core.autograd.collapse import collapse
from core.autograd.graph import Event
from core.autograd.module_groups import DRAWN, contract
from tests.core.autograd.made_captures import Maker, fork, random_capture, seeded, transformer


def assert_no_circle(view):
    before = {box.id: set() for box in view.boxes}
    for link in view.links:
        before[link.source].add(link.target)
    TopologicalSorter(before).prepare()


def test_without_modules_every_node_and_ghost_is_a_box():
    view = collapse(fork())

    assert {box.id: box.kind for box in view.boxes} == {
        "n0": "leaf",
        "n1": "node",
        "n2": "node",
        "n3": "node",
        "g4": "ghost",
        "g5": "ghost",
    }
    assert not view.collapsed_by_itself
    scissors = [(link.source, link.target) for link in view.links if link.has_scissors]
    assert scissors == [("g5", "n1")]


def test_contributions_to_an_output_are_told_one_by_one():
    capture = fork()
    joins = {join.box: join for join in collapse(capture).joins}

    terms = [capture.edges[at].gradient.values[0] for at in joins["n0"].edges]
    assert terms == [4.0, 6.0]
    assert sum(terms) == capture.nodes[0].gradients_in[0].values[0]


@pytest.mark.slow
def test_no_collapsing_loses_flops_bytes_nodes_or_links():
    for seed in range(100):
        capture = random_capture(seeded(seed))
        storages = {each.storage: each.storage_bytes for n in capture.nodes for each in n.saved}
        for depth in (None, 1, 2, 3):
            view = collapse(capture, depth=depth)
            boxes = view.boxes
            assert sum(b.flops_forward for b in boxes) == sum(
                n.flops_forward for n in capture.nodes
            )
            assert sum(b.flops_backward for b in boxes) == sum(
                n.flops_backward for n in capture.nodes
            )
            assert sum(b.saved_bytes for b in boxes) == sum(storages.values())
            members = [member for box in boxes for member in box.members]
            assert sorted(members) == sorted(n.id for n in (*capture.nodes, *capture.ghosts))
            drawn = sorted(at for link in view.links for at in link.edges)
            between = [
                at
                for at, edge in enumerate(capture.edges)
                if view.box_of[edge.source] != view.box_of[edge.target]
            ]
            assert drawn == between, (seed, depth)


@pytest.mark.slow
def test_closing_modules_never_makes_a_circle():
    num_split = 0
    for seed in range(300):
        capture = random_capture(seeded(seed))
        for depth in (1, 2, 3):
            for opened in ((), ("a",), ("b", "b.c")):
                view = collapse(capture, expanded=opened, depth=depth)
                assert_no_circle(view)
                num_split += any("#" in box.id for box in view.boxes)
    assert num_split > 100


def test_a_module_that_a_value_leaves_and_enters_again_becomes_two_boxes():
    arrows = [("a", "b"), ("b", "c")]
    assert contract("abc", arrows, {"a": "M", "c": "M"}) == {"a": "M", "b": "b", "c": "M#1"}
    assert contract("abc", arrows, {"a": "M", "b": "M"}) == {"a": "M", "b": "M", "c": "c"}


def test_two_modules_that_need_each_other_are_split_although_each_is_whole():
    arrows = [("a1", "b1"), ("b2", "a2")]
    box_of = contract(
        ["a1", "a2", "b1", "b2"], arrows, {"a1": "A", "a2": "A", "b1": "B", "b2": "B"}
    )
    assert sorted(set(box_of.values())) in (["A", "B", "B#1"], ["A", "A#1", "B"])


def test_arrows_in_a_circle_are_refused():
    with pytest.raises(ValueError, match="circle"):
        contract("ab", [("a", "b"), ("b", "a")], {"a": "M"})


def test_identical_blocks_are_one_box_until_one_of_them_is_opened():
    capture = transformer(12)

    closed = collapse(capture, depth=2)
    blocks = next(box for box in closed.boxes if box.times > 1)
    assert (blocks.label, blocks.times, blocks.path) == ("blocks.0-11", 12, "blocks")
    assert collapse(capture, depth=1).boxes[1].label == "blocks.0-11"

    opened = collapse(capture, expanded=("blocks",), depth=2)
    assert sum(box.path.startswith("blocks.") for box in opened.boxes) == 12
    assert {box.inside for box in opened.boxes} == {"", "blocks"}
    one = collapse(capture, expanded=("blocks", "blocks.3"), depth=2)
    assert {"blocks.3.attention", "blocks.2"} <= {box.path for box in one.boxes}


def test_a_block_that_differs_stands_beside_the_others_by_itself():
    make = Maker()
    x = make.leaf("x")
    for block in range(3):
        x = make.op("relu" if block < 2 else "gelu", [x], f"net.{block}")
        x = make.op("add", [x], f"net.{block}")
    view = collapse(make.capture(x, is_timed=False), depth=2)
    assert [box.path for box in view.boxes] == ["", "net.0", "net.1", "net.2"]


def test_more_than_can_be_drawn_collapses_by_itself():
    capture = transformer(12)
    view = collapse(capture)

    assert len(capture.nodes) > DRAWN
    assert view.collapsed_by_itself
    assert len(view.boxes) <= DRAWN
    assert not collapse(transformer(2)).collapsed_by_itself


def test_more_than_can_be_drawn_outside_of_modules_becomes_runs_of_operations():
    make = Maker()
    x = make.leaf("x")
    for _ in range(500):
        x = make.op("sin", [x])
    capture = make.capture(x, is_timed=False)
    view = collapse(capture)

    assert len(view.boxes) <= DRAWN
    assert view.collapsed_by_itself
    assert_no_circle(view)
    first = view.boxes[0]
    opened = collapse(capture, expanded=(first.path,))
    assert len(opened.boxes) == len(view.boxes) + len(first.members) - 1


def test_parameters_lie_in_the_module_that_owns_them():
    capture = transformer(1)
    view = collapse(capture, depth=2)
    head = next(box for box in view.boxes if box.path == "head")
    assert {view.box_of[node.id] for node in capture.nodes if node.leaf == "head.weight"} == {
        head.id
    }


def test_as_tensors_the_operations_stand_on_the_links():
    view = collapse(fork(), as_tensors=True)
    assert {(link.target, link.operation) for link in view.links if link.source == "n3"} == {
        ("n1", "add"),
        ("n2", "add"),
    }


def test_what_an_earlier_backward_handed_on_is_in_no_sum_of_the_last():
    capture = fork()
    one, two = (
        tuple(Event(kind="node", node=name, backward=turn) for name in names)
        for turn, names in enumerate((("n3", "n1"), ("n2", "n0")))
    )
    joins = {join.box: join for join in collapse(replace(capture, events=one + two)).joins}
    assert [capture.edges[at].source for at in joins["n0"].edges] == ["n2"]
