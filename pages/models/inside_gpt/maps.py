"""Tensors as heat maps beside each other, a row a token."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from core.figures.picture import Drawing, Look
from core.language import _

Rows = Sequence[Sequence[float]]
Scale = Literal["signed", "weight", "mask"]
MOST_WRITTEN: Final = 170  # numbers in one map that can still be read
_GAP: Final = 0.022  # between two maps, as a share of the width
_MOST_LINED: Final = 200  # columns over the whole width that have lines between them
_LINE: Final = 1.25  # height of a line of text, in text sizes


@dataclass(frozen=True, kw_only=True, slots=True)
class Map:
    """One heat map."""

    title: str  # above it
    rows: Rows  # the numbers; infinite ones are drawn as gaps
    scale: Scale  # "signed" has 0 in the middle, "weight" goes from 0 to 1, "mask" is 0 or 1
    columns: Sequence[str]  # what the columns are called when pointed at
    width: float = 1.0  # compared with the others
    framed: tuple[int, int] | None = None  # first and last column of a part to frame


def draw_maps(
    drawing: Drawing,
    maps: Sequence[Map],
    pieces: Sequence[str],
    look: Look,
    height: int,
    at: int | None = None,
) -> dict[str, Any]:
    """Draw maps from left to right, a row for each piece, one framed; return the layout."""
    layout = look.layout()
    size = layout["font"]["size"]
    every = max(1, math.ceil(len(pieces) * size * _LINE / (height - 60)))
    shown = list(range(0, len(pieces), every))
    for number, (each, domain) in enumerate(zip(maps, _domains(maps), strict=True)):
        end = str(number + 1) if number else ""
        axes = {"xaxis": f"x{end}", "yaxis": f"y{end}"}
        drawing.trace("heatmap", **_cells(each, pieces, look), **_gaps(each, domain), **axes)
        drawing.note(
            text=f"<b>{each.title}</b>", x=sum(domain) / 2, xref="paper", y=1, yref="paper",
            xanchor="center", yanchor="bottom", font={"color": look.color("text")},
        )  # fmt: skip
        _frame(drawing, each, at, look, axes)
        still = {
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
            "ticks": "",
            "showline": False,
        }
        layout[f"xaxis{end}"] = still | {
            "domain": domain, "anchor": f"y{end}", "showticklabels": False,
            "range": [-0.5, len(each.rows[0]) - 0.5],
        }  # fmt: skip
        layout[f"yaxis{end}"] = layout["yaxis"] | still | {
            "anchor": f"x{end}", "range": [len(pieces) - 0.5, -0.5], "showticklabels": not number,
            "tickvals": shown, "ticktext": [pieces[row] for row in shown],
        }  # fmt: skip
    margin = {"l": 4, "r": 4, "t": round(1.8 * size), "b": 4}
    masked = {"plot_bgcolor": look.color("border")}  # where there is no number
    return layout | masked | {"height": height, "margin": margin, "showlegend": False}


def _domains(maps: Sequence[Map]) -> list[list[float]]:
    free = 1 - _GAP * (len(maps) - 1)
    total = sum(each.width for each in maps)
    domains: list[list[float]] = []
    left = 0.0
    for each in maps:
        right = left + free * each.width / total
        domains.append([left, min(right, 1.0)])
        left = right + _GAP
    return domains


def _cells(each: Map, pieces: Sequence[str], look: Look) -> dict[str, Any]:
    rows = [[_rounded(value) for value in row] for row in each.rows]
    count = len(rows) * len(rows[0])
    writes = count <= MOST_WRITTEN and len(rows[0]) <= 16 and not look.present
    low, high = _range(each)
    words = _("{row}, {column}: {value}")
    return {
        "z": rows,
        "zmin": low,
        "zmax": high,
        "colorscale": _colors(each.scale, look),
        "showscale": False,
        "hoverongaps": False,
        "customdata": [[[pieces[row], name] for name in each.columns] for row in range(len(rows))],
        "hovertemplate": words.format(
            row="%{customdata[0]}", column="%{customdata[1]}", value="%{z:.4g}"
        )
        + "<extra></extra>",
        "texttemplate": "%{z:.2f}" if writes and each.scale != "mask" else "",
    }


def _gaps(each: Map, domain: Sequence[float]) -> dict[str, int]:
    """Return lines between cells, where they leave the cells some room."""
    has_room = len(each.rows[0]) <= _MOST_LINED * (domain[1] - domain[0])
    return dict.fromkeys(("xgap", "ygap"), int(has_room))


def _rounded(value: float) -> float | None:
    """Return four digits, which are enough to see; a gap for what is no number."""
    return float(f"{value:.4g}") if math.isfinite(value) else None


def _range(each: Map) -> tuple[float, float]:
    if each.scale != "signed":
        return 0.0, 1.0
    largest = max((abs(v) for row in each.rows for v in row if math.isfinite(v)), default=0.0)
    return -(largest or 1.0), largest or 1.0


def _colors(scale: Scale, look: Look) -> list[list[Any]]:
    ground = look.color("background")
    if scale == "signed":
        return [[0, look.color("negative")], [0.5, ground], [1, look.color("positive")]]
    return [[0, ground], [1, look.color("attention" if scale == "weight" else "other")]]


def _frame(drawing: Drawing, each: Map, at: int | None, look: Look, axes: dict[str, str]) -> None:
    refs = {"xref": axes["xaxis"], "yref": axes["yaxis"], "type": "rect"}
    last = len(each.rows[0]) - 0.5
    edges = {"x0": -0.5, "x1": last, "y0": -0.5, "y1": len(each.rows) - 0.5}
    drawing.shape(**refs, **edges, line={"color": look.color("border"), "width": 1})
    if each.framed:
        first, end = each.framed
        part = edges | {"x0": first - 0.5, "x1": end - 0.5}
        drawing.shape(**refs, **part, line={"color": look.color("attention"), "width": 2})
    if at is not None:
        row = edges | {"y0": at - 0.5, "y1": at + 0.5}
        drawing.shape(**refs, **row, line={"color": look.color("accent"), "width": 2})
