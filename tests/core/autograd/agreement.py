"""What every capture has to agree with: itself, and torch."""

from collections import defaultdict

import torch

from core.autograd.graph import Capture, Edge, Node, TensorInfo


def as_tensor(info: TensorInfo) -> torch.Tensor:
    """Return kept values in float64; fails if they were too many to keep."""
    assert info.values is not None
    return torch.tensor(info.values, dtype=torch.float64).reshape(info.shape)


def check(found: Capture) -> None:
    """Fail unless the capture agrees with itself in everything that the engine promises."""
    assert found.error is None
    assert found.limits_hit == ()
    assert found.order == found.planned
    nodes = {node.id: node for node in found.nodes}
    check_that_it_is_acyclic(found)
    check_what_nodes_were_handed(found, nodes)
    check_what_leaves_added_up(found)
    for node in found.nodes:
        if not node.leaf and node.order is not None:
            assert any(output is not None for output in node.outputs), node
            given = [output for output in node.outputs if output is not None]
            assert all(each.values is not None or each.statistics is not None for each in given)


def check_that_it_is_acyclic(found: Capture) -> None:
    """Fail unless each node comes after what it was computed from, and runs before it."""
    last = last_backward(found)
    places = {node.id: at for at, node in enumerate(found.nodes)}
    nodes = {node.id: node for node in found.nodes}
    ghosts = {ghost.id for ghost in found.ghosts}
    for edge in found.edges:
        assert edge.is_cut == (edge.target in ghosts), edge
        if edge.is_cut:
            continue
        assert places[edge.target] < places[edge.source], "a circle"
        if edge.gradient is not None and last[edge.source] == last[edge.target]:
            assert nodes[edge.source].order < nodes[edge.target].order


def check_what_nodes_were_handed(found: Capture, nodes: dict[str, Node]) -> None:
    """Fail unless what went into a node is the sum of what its edges brought in that backward."""
    parts, last = defaultdict(list), last_backward(found)
    for edge in found.edges:
        if edge.gradient is not None and last[edge.source] == last[edge.target]:
            parts[edge.target, edge.output_number].append(edge)
    roots = {event.node for event in found.events if event.kind == "seed"}
    for target, number in parts:
        gradients = nodes[target].gradients_in
        assert gradients[number] is not None, (target, number)
    for node in found.nodes:
        for number, gradient in enumerate(node.gradients_in):
            if gradient is not None and node.id not in roots:
                _check_sum(gradient, parts[node.id, number], node)


def last_backward(found: Capture) -> dict[str, int]:
    """Return the id of a node -> which call of backward ran it last."""
    ran = (event for event in found.events if event.kind in {"node", "accumulate"})
    return {event.node: event.backward for event in ran}


def _check_sum(gradient: TensorInfo, brought: list[Edge], node: Node) -> None:
    assert brought, f"a gradient that no edge brought: {node}"
    if gradient.values is None:
        return
    total = sum(as_tensor(edge.gradient) for edge in brought)
    wanted = as_tensor(gradient)
    rough = gradient.dtype not in {"float32", "float64"}
    torch.testing.assert_close(
        total, wanted, rtol=1e-2 if rough else 1e-5, atol=1e-6, equal_nan=True
    )


def check_what_leaves_added_up(found: Capture) -> None:
    """Fail unless each accumulation adds its gradient, and the last one is what the leaf ends with.

    A write into `.grad` may follow; then the leaf ends with what that made.
    """
    ends = {}
    for event in found.events:
        if event.kind in {"accumulate", "reset"}:
            ends[event.node] = event.after
        if event.kind != "accumulate" or event.after is None or event.after.values is None:
            continue
        (added,) = event.gradients
        before = as_tensor(event.before) if event.before is not None else 0
        after = as_tensor(event.after)
        torch.testing.assert_close(
            before + as_tensor(added), after, rtol=1e-5, atol=1e-6, equal_nan=True
        )
    for leaf in found.leaves.values():
        if leaf.node in ends:
            assert repr(leaf.grad) == repr(ends[leaf.node]), leaf.name  # NaN differs from itself
