"""Breakdown of training time: compute, extra work, communication, bubble, for several clusters."""

from collections.abc import Mapping, Sequence
from typing import Final

from core.budget.item import Item
from core.figures.budget.flops_frame import hatched, rows_of_bars, written_beside
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _
from core.units import format_percent, format_seconds

LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    "compute": ("forward", ""),
    "extra work": ("backward", "/"),
    "communication": ("estimated", "x"),
    "pipeline bubble": ("reference", "."),
}
Rows = Sequence[tuple[str, Item]]  # a translated label and the time behind it


def lines_picture(rows: Rows, look: Look) -> Picture:
    """Return one bar a cluster, cut into its parts, its whole time beside it.

    Args:
        rows: Number of devices in words, and what `training_time` gave.
        look: How the reader wants to see.
    """
    drawing = Drawing()
    for name in LOOKS:
        _draw_line(drawing, name, rows, look)
    whole = {label: time.amount for label, time in rows}
    x = written_beside(drawing, whole, format_seconds, 1.25)
    return Picture(
        figure=rows_of_bars(drawing, look, num_rows=len(rows), x=x),
        alt=_sentence(rows),
        table=_table(rows),
    )


def _draw_line(drawing: Drawing, name: str, rows: Rows, look: Look) -> None:
    """Draw what a line takes of every cluster's time; a line that takes nothing is left out."""
    amounts = [_part(time, name) for _label, time in rows]
    if not any(amounts):
        return
    meaning, pattern = LOOKS[name]
    drawing.bar(
        orientation="h",
        x=amounts,
        y=[label for label, _time in rows],
        name=_(name),
        marker=hatched(look.color(meaning), pattern),
        customdata=[
            f"{format_seconds(amount)} · {format_percent(amount / time.amount)}"
            for amount, (_label, time) in zip(amounts, rows, strict=True)
        ],
        hovertemplate="%{y}: %{customdata}<extra>%{fullData.name}</extra>",
    )


def _part(time: Item, name: str) -> float:
    return sum(part.amount for part in time.children if part.name == name)


def _sentence(rows: Rows) -> str:
    """Return each cluster's time and its largest line after compute."""
    parts = []
    for label, time in rows:
        others = [part for part in time.children if part.name != "compute"]
        most = max(others, key=lambda part: part.amount, default=None)
        text = f"{label} {format_seconds(time.amount)}"
        if most is not None:
            text += f" ({_(most.name)} {format_percent(most.amount / time.amount)})"
        parts.append(text)
    return _("Breakdown of training time: {rows}.").format(rows=_(", ").join(parts))


def _table(rows: Rows) -> Table:
    """Return one row a cluster."""
    columns: dict[str, Sequence[object]] = {_("devices"): [label for label, _time in rows]}
    for name in LOOKS:
        columns[_(name)] = [format_seconds(_part(time, name)) for _label, time in rows]
    columns[_("total")] = [format_seconds(time.amount) for _label, time in rows]
    return columns
