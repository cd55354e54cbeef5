"""What pictures of many trials share: axes that stay as they are, and labels that keep apart."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.figures.picture import Look


def trial_layout(
    look: Look,
    heights: tuple[int, int],
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    right: int = 8,
) -> dict[str, Any]:
    """Return the theme's layout for a picture without a legend.

    Args:
        look: How the reader wants to see.
        heights: In pixels, on a screen and on a projector.
        x: Fields of the horizontal axis, on top of the theme's own.
        y: Fields of the vertical axis.
        right: Pixels to the right of the picture, for what is written there.
    """
    layout = look.layout()
    axis = {"zeroline": False, "fixedrange": True}
    return layout | {
        "xaxis": layout["xaxis"] | axis | x,
        "yaxis": layout["yaxis"] | axis | y,
        "showlegend": False,
        "height": heights[look.present],
        "margin": {"l": 8, "r": right, "t": 12, "b": 8},
    }


def spread_labels(heights: Sequence[float], low: float, high: float, gap: float) -> list[float]:
    """Return places at least `gap` apart and inside the picture, as near as can be to the heights.

    Labels that would touch form a cluster around the mean of what they want; clusters that touch
    become one (pool adjacent violators, which minimises the squared distances).

    Args:
        heights: Where the labels would like to be.
        low: The lower end of the picture.
        high: The upper end.
        gap: The least distance of two labels.
    """
    order = sorted(range(len(heights)), key=heights.__getitem__)
    clusters: list[list[float]] = []  # what each member asks of the lowest place of its cluster
    for place in order:
        clusters.append([heights[place]])
        while len(clusters) > 1 and _top(clusters[-2], gap) > _start(clusters[-1]):
            upper, below = clusters.pop(), clusters.pop()
            clusters.append(below + [want - gap * len(below) for want in upper])
    placed = [
        _start(cluster) + gap * number for cluster in clusters for number in range(len(cluster))
    ]
    inside = _keep_inside(placed, low + gap / 2, high - gap / 2, gap)
    return [height for _place, height in sorted(zip(order, inside, strict=True))]


def _start(cluster: Sequence[float]) -> float:
    return sum(cluster) / len(cluster)


def _top(cluster: Sequence[float], gap: float) -> float:
    return _start(cluster) + gap * len(cluster)


def _keep_inside(places: list[float], low: float, high: float, gap: float) -> list[float]:
    """Push ascending places up from the lower end, then down from the upper one."""
    for number, place in enumerate(places):
        places[number] = max(place, low if number == 0 else places[number - 1] + gap)
    for number in reversed(range(len(places))):
        ceiling = high if number == len(places) - 1 else places[number + 1] - gap
        places[number] = min(places[number], ceiling)
    return places
