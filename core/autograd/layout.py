"""Where boxes and links lie: in layers, values flowing from left to right, the loss at the right.

The steps are those of Sugiyama, Tagawa and Toda (1981): a layer for each box, an order within each
layer that has few crossings, then coordinates. The same view always gets the same drawing.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.autograd.collapse import Link, View
from core.autograd.module_groups import in_order

Size = tuple[float, float]
Point = tuple[float, float]
GAP_ACROSS: Final = 84.0  # between layers: a contribution is written there
GAP_DOWN: Final = 22.0
WAY: Final = 10.0  # height that a link takes where it passes a layer
SWEEPS: Final = 6  # over all layers, to and fro; more change little
ROUNDS: Final = (("above",), ("below",), ("above",), ("above", "below"))  # whom a box follows
FREE: Final = 0.05  # the weight of a box that follows nobody
LEVEL: Final = 6.0  # how much more the level run of a long link weighs than a box's place


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    """Where everything lies, in pixels from the upper left corner."""

    places: Mapping[str, tuple[float, float, float, float]]  # of boxes: x, y, width, height
    paths: Mapping[str, tuple[Point, ...]]  # of links, from target to source
    width: float
    height: float


@dataclass(frozen=True, kw_only=True, slots=True)
class _Layers:
    """Boxes, and the places where long links pass, layer by layer."""

    rows: list[list[str]]  # from left to right; the names of each from the top down
    ways: Mapping[str, list[str]]  # of links: places that they pass
    above: Mapping[str, list[str]]  # neighbours in the layer to the left
    below: Mapping[str, list[str]]  # the same, to the right


def layout(
    view: View,
    sizes: Mapping[str, Size],
    *,
    gap_across: float = GAP_ACROSS,
    gap_down: float = GAP_DOWN,
) -> Drawing:
    """Return where the boxes and links of a view lie.

    Args:
        view: Boxes and links without a circle.
        sizes: Id of a box -> (width, height).
        gap_across: Free room between two layers.
        gap_down: Free room between two boxes of a layer.

    Raises:
        ValueError: If the links go in a circle.
    """
    layer_of = _layers_of(view)
    layers = _order_layers(view, layer_of)
    heights = {**dict.fromkeys(layers.above, WAY), **{name: sizes[name][1] for name in layer_of}}
    middles = _straighten(layers, heights, gap_down)
    widths = [
        max((sizes[name][0] for name in row if name in sizes), default=0) for row in layers.rows
    ]
    lefts = [sum(widths[:at]) + gap_across * at for at in range(len(widths))]
    places = {
        name: (
            lefts[at] + (widths[at] - sizes[name][0]) / 2,
            middles[name] - sizes[name][1] / 2,
            *sizes[name],
        )
        for name, at in layer_of.items()
    }
    columns = {
        name: (lefts[at], lefts[at] + widths[at])
        for at, row in enumerate(layers.rows)
        for name in row
    }
    return Drawing(
        places=places,
        paths=_paths(view, layers, places, columns, middles),
        width=lefts[-1] + widths[-1] if widths else 0.0,
        height=max((y + height for _x, y, _width, height in places.values()), default=0.0),
    )


def _layers_of(view: View) -> dict[str, int]:
    """Return each box's layer: behind all that it needs, and a source beside its use."""
    makers: dict[str, list[str]] = {box.id: [] for box in view.boxes}
    users: dict[str, list[str]] = {box.id: [] for box in view.boxes}
    for link in view.links:
        makers[link.source].append(link.target)
        users[link.target].append(link.source)
    order = in_order(makers, [(link.target, link.source) for link in view.links])
    if order is None:
        raise ValueError("the links go in a circle: such a view has no layers")
    layer: dict[str, int] = {}
    for name in order:
        layer[name] = 1 + max((layer[each] for each in makers[name]), default=-1)
    for name in reversed(order):
        if users[name] and len(makers[name]) <= len(users[name]):
            # A box with as many links behind it as before it makes them no longer by moving on.
            layer[name] = max(layer[name], min(layer[each] for each in users[name]) - 1)
    first = min(layer.values(), default=0)
    return {box.id: layer[box.id] - first for box in view.boxes}


def _paths(
    view: View,
    layers: _Layers,
    places: Mapping[str, tuple[float, float, float, float]],
    columns: Mapping[str, tuple[float, float]],
    middles: Mapping[str, float],
) -> dict[str, tuple[Point, ...]]:
    """Return the points of each link; where it passes a layer it runs level, clear of the boxes."""
    ways = {
        link.id: [
            point
            for name in layers.ways[link.id]
            for point in ((columns[name][0], middles[name]), (columns[name][1], middles[name]))
        ]
        for link in view.links
    }
    starts = _ports(view, places, ways, at_source=False)
    ends = _ports(view, places, ways, at_source=True)
    return {link.id: (starts[link.id], *ways[link.id], ends[link.id]) for link in view.links}


def _ports(
    view: View,
    places: Mapping[str, tuple[float, float, float, float]],
    ways: Mapping[str, list[Point]],
    *,
    at_source: bool,
) -> dict[str, Point]:
    """Return where the links touch their boxes: spread over a side, in the order they come from."""

    def comes_from(link: Link) -> float:
        if ways[link.id]:
            return ways[link.id][-1 if at_source else 0][1]
        _x, y, _width, height = places[link.target if at_source else link.source]
        return y + height / 2

    sides: dict[str, list[Link]] = {}
    for link in view.links:
        sides.setdefault(link.source if at_source else link.target, []).append(link)
    ports = {}
    for name, links in sides.items():
        x, y, width, height = places[name]
        for at, link in enumerate(sorted(links, key=comes_from)):
            ports[link.id] = (
                x if at_source else x + width,
                y + height * (at + 1) / (len(links) + 1),
            )
    return ports


def _order_layers(view: View, layer_of: Mapping[str, int]) -> _Layers:
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
    return _Layers(rows=best, ways=layers.ways, above=layers.above, below=layers.below)


def _unordered(view: View, layer_of: Mapping[str, int]) -> _Layers:
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
    return _Layers(rows=rows, ways=ways, above=above, below=below)


def _sweep(layers: _Layers, *, to_the_right: bool) -> None:
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


def _crossings(layers: _Layers) -> int:
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


def _straighten(layers: _Layers, heights: Mapping[str, float], gap: float) -> dict[str, float]:
    """Return the middle of each box and place; the highest edge is at 0."""
    middles: dict[str, float] = {}
    for row in layers.rows:
        top = 0.0
        for name in row:
            middles[name] = top + heights[name] / 2
            top += heights[name] + gap
    passes = {name for ways in layers.ways.values() for name in ways}
    for turn, sides in enumerate(ROUNDS):
        for row in layers.rows if turn % 2 == 0 else reversed(layers.rows):
            near = {
                name: [each for side in sides for each in _side(layers, side)[name]] for name in row
            }
            wished = [
                sum(middles[each] for each in known) / len(known) if known else middles[name]
                for name, known in near.items()
            ]
            weights = [LEVEL if name in passes else 1.0 if near[name] else FREE for name in row]
            middles |= _apart(row, wished, weights, heights, gap)
    highest = min((middles[name] - heights[name] / 2 for name in middles), default=0.0)
    return {name: middle - highest for name, middle in middles.items()}


def _side(layers: _Layers, side: str) -> Mapping[str, list[str]]:
    return layers.above if side == "above" else layers.below


def _apart(
    row: list[str],
    wished: list[float],
    weights: list[float],
    heights: Mapping[str, float],
    gap: float,
) -> dict[str, float]:
    """Return the heights nearest to those wished for at which nothing in a layer overlaps.

    Less the room that is taken above, the heights must not fall: that is isotonic regression, and
    joining neighbours that stand in the wrong order solves it (Barlow et al., 1972).
    """
    taken, total = [], 0.0
    for at, name in enumerate(row):
        total += (heights[row[at - 1]] + heights[name]) / 2 + gap if at else 0.0
        taken.append(total)
    blocks: list[tuple[float, float, int]] = []  # mean, weight, how many
    for want, weight, room in zip(wished, weights, taken, strict=True):
        mean, heavy, many = want - room, weight, 1
        while blocks and blocks[-1][0] > mean:
            before, weighs, count = blocks.pop()
            mean = (before * weighs + mean * heavy) / (weighs + heavy)
            heavy, many = heavy + weighs, many + count
        blocks.append((mean, heavy, many))
    means = [mean for mean, _weight, count in blocks for _ in range(count)]
    return {name: mean + room for name, mean, room in zip(row, means, taken, strict=True)}
