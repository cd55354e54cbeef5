"""One measured speed as the MFU that each convention makes of it."""

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.budget.item import Item
from core.figures.budget.flops_frame import hatched, joined, rows_of_bars
from core.figures.drawing import Drawing
from core.figures.picture import Look
from core.figures.theme import COLORS, Mode
from core.language import _
from core.units import format_percent

_LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    "hardware (HFU), causal": ("backward", "/"),
    "sparse peak": ("norms", "x"),
}
_MODEL: Final = ("forward", "")
_BEYOND: Final = 1.0  # nothing runs faster than its peak


def mfu_bars(shares: Sequence[Item], mode: Mode, *, present: bool = False) -> go.Figure:
    """Return one bar a convention and the line that none may cross.

    Args:
        shares: What `core.budget.compute.conventions.mfu_conventions` gave.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    drawing, color = Drawing(), COLORS[mode]
    _draw_shares(drawing, shares, color)
    _draw_peak(drawing, color)
    end = max(1.0, *(share.amount for share in shares)) * 1.15
    x = {"range": [0, end], "tickformat": ".0%", "title": _("share of the peak")}
    return rows_of_bars(drawing, Look(mode=mode, present=present), num_rows=len(shares), x=x)


def _draw_shares(drawing: Drawing, shares: Sequence[Item], color: Mapping[str, str]) -> None:
    looks = [_LOOKS.get(share.name, _MODEL) for share in shares]
    names = [_(share.name) for share in shares]
    drawing.bar(
        orientation="h",
        x=[share.amount for share in shares],
        y=names,
        marker={
            "color": [color[token] for token, _pattern in looks],
            "pattern": hatched("") | {"shape": [pattern for _token, pattern in looks]},
        },
        customdata=[format_percent(share.amount) for share in shares],
        hovertemplate="%{y}: %{customdata}<extra></extra>",
        showlegend=False,
    )
    for name, share in zip(names, shares, strict=True):
        text = f" {format_percent(share.amount)}" + (" ✗" if share.amount > _BEYOND else "")
        drawing.note(x=share.amount, y=name, text=text, xanchor="left")


def _draw_peak(drawing: Drawing, color: Mapping[str, str]) -> None:
    """Draw the line that no bar may cross."""
    drawing.shape(
        type="line", x0=1, x1=1, y0=0, y1=1, yref="paper",
        line={"color": color["refused"], "width": 2, "dash": "dash"},
    )  # fmt: skip
    drawing.note(
        x=1, y=1, yref="paper", yanchor="bottom", text=_("the peak"),
        font={"color": color["refused"]},
    )  # fmt: skip


def mfu_alt(shares: Sequence[Item]) -> str:
    """Return the picture in words."""
    parts = [f"{_(share.name)} {format_percent(share.amount)}" for share in shares]
    return _("The same speed as a share of the peak: {shares}.").format(shares=joined(parts))


def mfu_table(shares: Sequence[Item]) -> Mapping[str, Sequence[object]]:
    """Return one row a convention."""
    return {
        _("convention"): [_(share.name) for share in shares],
        _("share of the peak"): [format_percent(share.amount) for share in shares],
        _("formula"): [share.formula for share in shares],
        _("source"): [_(share.source) for share in shares],
    }
