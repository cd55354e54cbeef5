"""The tensors that one stage of a forward pass made."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from torch import Tensor

from core.figures.models.inside_gpt.maps import Map, Rows, Scale, draw_maps
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _
from core.models.stages import Axes, Stage
from core.units import format_exact

HEIGHT_PX: Final = 330
PRESENT_HEIGHT_PX: Final = 310  # there is a line of code below it
MOST_COLUMNS: Final = 256
_SCALES: Final[dict[str, Scale]] = {"softmax": "weight"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """Which part of a stage is looked at.

    Attributes:
        title: What the stage is called.
        head: Of tensors with heads, from 0.
        pieces: A sign for each token.
        vocabulary: A sign for each token of the vocabulary.
    """

    title: str
    head: int
    pieces: Sequence[str]
    vocabulary: Sequence[str]


def stage_picture(stage: Stage, seen: Seen, look: Look) -> Picture:
    """Return a heat map for each tensor that a stage made: a row a token."""
    drawing = Drawing()
    maps = [_map(stage, name, seen) for name in stage.outputs]
    height = PRESENT_HEIGHT_PX if look.present else HEIGHT_PX
    layout = draw_maps(drawing, maps, seen.pieces, look, height)
    return Picture(
        figure=drawing.figure(layout), alt=_sentence(stage, maps, seen), table=_table(maps, seen)
    )


def shown_columns(stage: Stage) -> tuple[int, int]:
    """Return how many columns of a stage's tensors are drawn, and how many there are."""
    num_columns = next(iter(stage.outputs.values())).shape[-1]
    return min(num_columns, MOST_COLUMNS), num_columns


def _map(stage: Stage, name: str, seen: Seen) -> Map:
    axes, tensor = stage.axes[name], stage.outputs[name]
    rows = _rows(tensor, axes, seen.head)
    title = f"{name}, {_('head {number}').format(number=seen.head + 1)}" if "H" in axes else name
    return Map(
        title=title,
        rows=rows,
        scale=_SCALES.get(stage.kind, "signed"),
        columns=_columns(axes[-1], len(rows[0]), seen),
    )


def _rows(tensor: Tensor, axes: Axes, head: int) -> Rows:
    """Return a row a token of the first text, of one head."""
    matrix = tensor[0, head] if "H" in axes else tensor[0]
    rows: Rows = matrix[:, :MOST_COLUMNS].tolist()
    return rows


def _columns(axis: str, count: int, seen: Seen) -> list[str]:
    if axis == "S":
        return list(seen.pieces[:count])
    if axis == "V":
        return list(seen.vocabulary[:count])
    return [_("channel {number}").format(number=number) for number in range(count)]


def _sentence(stage: Stage, maps: Sequence[Map], seen: Seen) -> str:
    message = _("{title}: {tokens} tokens by {columns} numbers, from {low} to {high}")
    parts = []
    for each in maps:
        finite = [value for row in each.rows for value in row if math.isfinite(value)]
        parts.append(
            message.format(
                title=each.title,
                tokens=format_exact(len(seen.pieces)),
                columns=format_exact(len(each.rows[0])),
                low=f"{min(finite):.3g}",
                high=f"{max(finite):.3g}",
            )
        )
    whole = _("{stage} ({name}). {parts}.")
    return whole.format(stage=seen.title, name=stage.name, parts=_("; ").join(parts))


def _table(maps: Sequence[Map], seen: Seen) -> Table:
    """Return a row a token: its numbers, or of many the smallest, the mean and the largest."""
    table: dict[str, list[object]] = {_("token"): list(seen.pieces)}
    for each in maps:
        if len(each.rows[0]) <= 64:
            for number in range(len(each.rows[0])):
                table[f"{each.title} {number}"] = [f"{row[number]:.4g}" for row in each.rows]
            continue
        table[_("{title}: smallest").format(title=each.title)] = [_short(min(r)) for r in each.rows]
        table[_("{title}: mean").format(title=each.title)] = [
            _short(sum(row) / len(row)) for row in each.rows
        ]
        table[_("{title}: largest").format(title=each.title)] = [_short(max(r)) for r in each.rows]
    return table


def _short(value: float) -> str:
    return f"{value:.4g}"
