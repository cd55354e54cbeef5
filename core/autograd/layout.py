"""Where boxes and links lie: in layers, values flowing from left to right, the loss at the right.

The steps are those of Sugiyama, Tagawa and Toda (1981): a layer for each box, an order within each
layer that has few crossings, then coordinates. The same view always gets the same drawing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.autograd.contraction import in_order
from core.autograd.layers import Layers, order_layers
from core.autograd.straight import straighten
from core.autograd.view import Link, View

Size = tuple[float, float]
Point = tuple[float, float]
GAP_ACROSS: Final = 84.0  # between layers: a contribution is written there
GAP_DOWN: Final = 22.0
WAY: Final = 10.0  # height that a link takes where it passes a layer


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    """Where everything lies, in pixels from the upper left corner.

    Attributes:
        places: Id of a box -> (x, y, width, height).
        paths: Id of a link -> points from the right of its target to the left of its source.
        width, height: Of all.
    """

    places: Mapping[str, tuple[float, float, float, float]]
    paths: Mapping[str, tuple[Point, ...]]
    width: float
    height: float


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
    layers = order_layers(view, layer_of)
    heights = {**dict.fromkeys(layers.above, WAY), **{name: sizes[name][1] for name in layer_of}}
    middles = straighten(layers, heights, gap_down)
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
    layers: Layers,
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
