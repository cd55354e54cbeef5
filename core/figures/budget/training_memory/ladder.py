"""A ladder of techniques: what was published for each rung, and what our rules give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _
from core.units import ByteUnit, format_bytes

_FADED: Final = 0.35
_ROOM: Final = 1.3


@dataclass(frozen=True, slots=True)
class LadderRow:
    """One rung: a translated title, the published bytes, and ours (None where we have none)."""

    title: str
    published: float
    ours: float | None

    @property
    def error(self) -> float | None:
        """Relative error of ours."""
        return None if self.ours is None else self.ours / self.published - 1


def ladder_figure(
    rows: Sequence[LadderRow], chosen: int, unit: ByteUnit, mode: Mode, *, present: bool = False
) -> go.Figure:
    """Return a bar of ours and a mark of the published figure for each rung; one stands out."""
    layout = plotly_layout(mode, present=present)
    drawing, color = Drawing(), COLORS[mode]
    places = list(range(len(rows)))
    opacity = [1 if place == chosen else _FADED for place in places]
    texts = [_numbers(row, unit) for row in rows]
    drawing.bar(
        orientation="h",
        y=places,
        x=[row.ours or 0 for row in rows],
        name=_("ours"),
        marker={"color": color["estimated"], "opacity": opacity, "pattern": {"shape": "/"}},
        customdata=texts,
        hovertemplate="%{customdata}<extra></extra>",
    )
    drawing.scatter(
        mode="markers",
        y=places,
        x=[row.published for row in rows],
        name=_("published"),
        marker=_mark(color, layout["font"]["size"]),
        customdata=texts,
        hovertemplate="%{customdata}<extra></extra>",
    )
    for place, row in enumerate(rows):
        drawing.note(
            x=max(row.published, row.ours or 0),
            y=place,
            text="  " + _short(row, unit),
            xanchor="left",
            font={"color": color["text" if place == chosen else "muted"]},
        )
    return drawing.figure(layout | _axes(rows, layout))


def _mark(color: Mapping[str, str], size: int) -> dict[str, Any]:
    edge = {"width": 2, "color": color["background"]}
    return {"symbol": "diamond", "size": size, "color": color["measured"], "line": edge}


def _axes(rows: Sequence[LadderRow], layout: Mapping[str, Any]) -> dict[str, Any]:
    size = layout["font"]["size"]
    high = max(max(row.published, row.ours or 0) for row in rows)
    ticks = {"tickvals": list(range(len(rows))), "ticktext": [row.title for row in rows]}
    return {
        "template": "none",
        "bargap": 0.35,
        "xaxis": {"visible": False, "range": [0, _ROOM * high], "fixedrange": True},
        "yaxis": layout["yaxis"]
        | ticks
        | {"autorange": "reversed", "showgrid": False, "zeroline": False, "fixedrange": True},
        "height": round(len(rows) * size * 1.75) + 2 * size,
        "margin": {"l": 8, "r": 8, "t": 28, "b": 8},
    }


def error_text(error: float) -> str:
    """Return a relative error with its sign: "−3.5 %", "±0.0 %"."""
    words = f"{abs(error) * 100:.1f} %"
    if words == "0.0 %":
        return f"±{words}"
    return ("+" if error > 0 else "−") + words


def _short(row: LadderRow, unit: ByteUnit) -> str:
    published = format_bytes(row.published, unit)
    return published if row.error is None else f"{published} ({error_text(row.error)})"


def _numbers(row: LadderRow, unit: ByteUnit) -> str:
    published = format_bytes(row.published, unit)
    if row.ours is None or row.error is None:
        return published
    return _("{published}, ours {ours} ({error})").format(
        published=published, ours=format_bytes(row.ours, unit), error=error_text(row.error)
    )


def ladder_alt(rows: Sequence[LadderRow], unit: ByteUnit) -> str:
    """Return the picture in words."""
    parts = [f"{row.title}: {_numbers(row, unit)}" for row in rows]
    return _("Published peak of each rung, and ours: {parts}.").format(parts=_("; ").join(parts))


def ladder_table(rows: Sequence[LadderRow], unit: ByteUnit) -> Mapping[str, Sequence[object]]:
    """Return one row a rung."""
    return {
        _("rung"): [row.title for row in rows],
        _("published"): [format_bytes(row.published, unit) for row in rows],
        _("ours"): ["" if row.ours is None else format_bytes(row.ours, unit) for row in rows],
        _("error"): ["" if row.error is None else error_text(row.error) for row in rows],
    }
