"""Training time in lines: compute, extra work, communication, bubble, for several clusters."""

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.budget.item import Item
from core.figures.budget.flops_frame import hatched, joined, rows_of_bars
from core.figures.drawing import Drawing
from core.figures.picture import Look
from core.figures.theme import COLORS, Mode
from core.language import _
from core.units import format_percent, format_seconds

LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    "compute": ("forward", ""),
    "extra work": ("backward", "/"),
    "communication": ("estimated", "x"),
    "pipeline bubble": ("reference", "."),
}
Rows = Sequence[tuple[str, Item]]  # a translated label and the time behind it


def time_lines(rows: Rows, mode: Mode, *, present: bool = False) -> go.Figure:
    """Return one bar a cluster, cut into its lines, its whole time beside it.

    Args:
        rows: Number of devices in words, and what `training_time` gave.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    drawing = Drawing()
    labels = [label for label, _time in rows]
    for name, (token, pattern) in LOOKS.items():
        amounts = [_part(time, name) for _label, time in rows]
        if not any(amounts):
            continue
        drawing.bar(
            orientation="h",
            x=amounts,
            y=labels,
            name=_(name),
            marker={"color": COLORS[mode][token], "pattern": hatched(pattern)},
            customdata=[
                f"{format_seconds(amount)} · {format_percent(amount / time.amount)}"
                for amount, (_label, time) in zip(amounts, rows, strict=True)
            ],
            hovertemplate="%{y}: %{customdata}<extra>%{fullData.name}</extra>",
        )
    for label, time in rows:
        drawing.note(x=time.amount, y=label, text=f" {format_seconds(time.amount)}", xanchor="left")
    hidden = {"visible": False, "range": [0, 1.25 * max(time.amount for _label, time in rows)]}
    return rows_of_bars(drawing, Look(mode=mode, present=present), num_rows=len(rows), x=hidden)


def _part(time: Item, name: str) -> float:
    return sum(part.amount for part in time.children if part.name == name)


def time_lines_alt(rows: Rows) -> str:
    """Return the picture in words: each cluster's time and its largest line after compute."""
    parts = []
    for label, time in rows:
        others = [part for part in time.children if part.name != "compute"]
        most = max(others, key=lambda part: part.amount, default=None)
        text = f"{label} {format_seconds(time.amount)}"
        if most is not None:
            text += f" ({_(most.name)} {format_percent(most.amount / time.amount)})"
        parts.append(text)
    return _("Time of training in lines: {rows}.").format(rows=joined(parts))


def time_lines_table(rows: Rows) -> Mapping[str, Sequence[object]]:
    """Return one row a cluster."""
    columns: dict[str, Sequence[object]] = {_("devices"): [label for label, _time in rows]}
    for name in LOOKS:
        columns[_(name)] = [format_seconds(_part(time, name)) for _label, time in rows]
    columns[_("total")] = [format_seconds(time.amount) for _label, time in rows]
    return columns
