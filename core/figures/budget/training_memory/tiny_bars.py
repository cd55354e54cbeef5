"""The account of a tiny model as two bars: by the lecture, and as torch keeps it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import plotly.graph_objects as go

from core.budget.by_hand.tiny_model import TinyAccount
from core.budget.item import Item
from core.figures.budget.stacked_parts import parts_table, stack
from core.figures.drawing import Drawing
from core.figures.picture import Look
from core.figures.theme import Mode, plotly_layout
from core.language import _
from core.units import ByteUnit, format_bytes

HEIGHT_PX: Final = 240
_ROOM: Final = 1.15


def _bars(account: TinyAccount) -> list[tuple[str, Sequence[Item]]]:
    parts = account.memory.children
    kept = 4 * round(account.kept.amount)
    real = [replace(p, amount=kept) if p.name == "activations" else p for p in parts]
    return [(_("by the formulas"), parts), (_("as torch keeps it"), real)]


def tiny_figure(
    account: TinyAccount, unit: ByteUnit, mode: Mode, *, present: bool = False
) -> go.Figure:
    """Return two stacked bars of bytes.

    Args:
        account: The account.
        unit: "GiB" or "GB".
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    drawing = Drawing()
    bars = _bars(account)
    stack(drawing, bars, Look(mode=mode, unit=unit), flat=True)
    sums = [sum(part.num_bytes for part in parts) for _label, parts in bars]
    for (label, _parts), amount in zip(bars, sums, strict=True):
        text = f" {format_bytes(amount, unit)}"
        drawing.note(x=amount, y=label, text=text, xanchor="left")
    layout = plotly_layout(mode, present=present)
    bare = {"zeroline": False, "showgrid": False, "fixedrange": True}
    return drawing.figure(
        layout
        | {
            "template": "none",
            "barmode": "stack",
            "xaxis": layout["xaxis"]
            | bare
            | {"range": [0, _ROOM * max(sums)], "showticklabels": False, "ticks": ""},
            "yaxis": layout["yaxis"] | bare | {"autorange": "reversed", "ticks": ""},
            "legend": layout["legend"] | {"traceorder": "normal"},
            "height": HEIGHT_PX,
            "margin": {"l": 8, "r": 24, "t": 34, "b": 8},
        }
    )


def tiny_alt(account: TinyAccount, unit: ByteUnit) -> str:
    """Return the picture in words."""
    formulas, real = (sum(part.num_bytes for part in parts) for _label, parts in _bars(account))
    return _(
        "Bytes of one training step: {formulas} by the lecture's formulas, {real} as torch keeps "
        "it, because {kept} values wait for the backward pass and not {counted}."
    ).format(
        formulas=format_bytes(formulas, unit),
        real=format_bytes(real, unit),
        kept=f"{account.kept.amount:,}",
        counted=f"{account.activations.amount:,}",
    )


def tiny_table(account: TinyAccount, unit: ByteUnit) -> Mapping[str, Sequence[object]]:
    """Return one row a bar."""
    return parts_table(_bars(account), Look(unit=unit), _("counted"))
