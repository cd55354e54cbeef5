"""The order of boxes within their layers, so that few links cross."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.autograd.view import View

SWEEPS: Final = 6  # over all layers, to and fro; more change little


@dataclass(frozen=True, kw_only=True, slots=True)
class Layers:
    """Boxes, and the places where long links pass, layer by layer.

    Attributes:
        rows: From left to right; the names of each from the top down.
        ways: Id of a link -> names of the places that it passes, from left to right.
        above: Name of a box or place -> its neighbours in the layer to the left.
        below: The same, to the right.
    """

    rows: list[list[str]]
    ways: Mapping[str, list[str]]
    above: Mapping[str, list[str]]
    below: Mapping[str, list[str]]


def order_layers(view: View, layer_of: Mapping[str, int]) -> Layers:
    """Return the layers with their members in an order of few crossings."""
    layers = _unordered(view, layer_of)
    best, fewest = [list(row) for row in layers.rows], _crossings(layers)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        _sweep(layers, to_the_right=sweep % 2 == 0)
        crossings = _crossings(layers)
        if crossings < fewest:
            best, fewest = [list(row) for row in layers.rows], crossings
    return Layers(rows=best, ways=layers.ways, above=layers.above, below=layers.below)


def _unordered(view: View, layer_of: Mapping[str, int]) -> Layers:
    """Return the layers, a place in each layer that a link passes."""
    rows: list[list[str]] = [[] for _ in range(max(layer_of.values(), default=-1) + 1)]
    for name, at in layer_of.items():
        rows[at].append(name)
    above: dict[str, list[str]] = {name: [] for name in layer_of}
    below: dict[str, list[str]] = {name: [] for name in layer_of}
    ways = {}
    for link in view.links:
        passed = range(layer_of[link.target] + 1, layer_of[link.source])
        ways[link.id] = [f"{link.id}@{at}" for at in passed]
        for name, at in zip(ways[link.id], passed, strict=True):
            rows[at].append(name)
            above[name], below[name] = [], []
        chain = [link.target, *ways[link.id], link.source]
        for left, right in itertools.pairwise(chain):
            above[right].append(left)
            below[left].append(right)
    return Layers(rows=rows, ways=ways, above=above, below=below)


def _sweep(layers: Layers, *, to_the_right: bool) -> None:
    """Sort each layer by the middle of each one's neighbours in the layer before."""
    rows = layers.rows if to_the_right else layers.rows[::-1]
    near = layers.above if to_the_right else layers.below
    place = {name: at for at, name in enumerate(rows[0])} if rows else {}
    for row in rows[1:]:
        middle = {}
        for at, name in enumerate(row):
            known = near[name]
            # Who has no neighbour keeps its place.
            middle[name] = sum(place[each] for each in known) / len(known) if known else float(at)
        row.sort(key=middle.__getitem__)
        place |= {name: at for at, name in enumerate(row)}


def _crossings(layers: Layers) -> int:
    """Return how often links cross, between all pairs of layers."""
    total = 0
    for left, right in zip(layers.rows, layers.rows[1:], strict=False):
        place = {name: at for at, name in enumerate(right)}
        ends = [end for name in left for end in sorted(place[each] for each in layers.below[name])]
        total += _inversions(ends, len(right))
    return total


def _inversions(ends: list[int], length: int) -> int:
    """Count the pairs that stand in the wrong order, with sums over a tree (Fenwick, 1994)."""
    tree = [0] * (length + 1)
    found = 0
    for seen, end in enumerate(ends):
        at, no_larger = end + 1, 0
        while at:
            no_larger += tree[at]
            at &= at - 1
        found += seen - no_larger
        at = end + 1
        while at <= length:
            tree[at] += 1
            at += at & -at
    return found
