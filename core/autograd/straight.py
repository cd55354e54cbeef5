"""Heights at which boxes stand, so that links run as level as their order allows."""

from collections.abc import Mapping
from typing import Final

from core.autograd.layers import Layers

ROUNDS: Final = (("above",), ("below",), ("above",), ("above", "below"))  # whom a box follows
FREE: Final = 0.05  # the weight of a box that follows nobody
LEVEL: Final = 6.0  # how much more the level run of a long link weighs than a box's place


def straighten(layers: Layers, heights: Mapping[str, float], gap: float) -> dict[str, float]:
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


def _side(layers: Layers, side: str) -> Mapping[str, list[str]]:
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
