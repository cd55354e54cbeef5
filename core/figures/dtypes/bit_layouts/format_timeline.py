"""The history of the formats: year by year, and how many bits a number takes."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes import FORMATS
from core.dtypes.facts.history import Milestone
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _

HEIGHT_PX: Final = 400
PRESENT_HEIGHT_PX: Final = 470
_SHORT: Final = re.compile(r"^float[864]_")
WIDTHS: Final = (64, 32, 19, 16, 8, 6, 4)
SYMBOLS: Final = {
    64: "square",
    32: "square",
    19: "diamond",
    16: "circle",
    8: "star",
    6: "x",
    4: "cross",
}


def timeline_figure(
    milestones: Sequence[Milestone], mode: Mode = "light", *, present: bool = False
) -> go.Figure:
    """Draw one column for each milestone, oldest first, and a mark for each of its formats."""
    layout = plotly_layout(mode, present=present)
    size = layout["font"]["size"]
    points = [
        (place, FORMATS[name].bits, name, each)
        for place, each in enumerate(milestones)
        for name in each.formats
    ]
    marks = go.Scatter(
        x=[place for place, *_rest in points],
        y=[WIDTHS.index(bits) for _place, bits, *_rest in points],
        mode="markers",
        marker={
            "color": COLORS[mode]["exponent"],
            "size": size,
            "symbol": [SYMBOLS[bits] for _place, bits, *_rest in points],
        },
        customdata=[[name, each.year, _(each.event)] for *_rest, name, each in points],
        hovertemplate="%{customdata[0]}, %{customdata[1]}<br>%{customdata[2]}<extra></extra>",
    )
    figure = go.Figure([_steps(milestones, mode), marks], layout)
    _name_points(figure, points, size)
    figure.update_layout(
        height=PRESENT_HEIGHT_PX if present else HEIGHT_PX,
        showlegend=False,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
    )
    figure.update_xaxes(
        tickvals=list(range(len(milestones))),
        ticktext=[f"{each.year}<br>{each.who}" for each in milestones],
        range=[-0.5, len(milestones) - 0.2],
        fixedrange=True,
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(
        tickvals=list(range(len(WIDTHS))),
        ticktext=[_("{bits} bits").format(bits=bits) for bits in WIDTHS],
        range=[len(WIDTHS) - 0.4, -0.6],
        fixedrange=True,
        zeroline=False,
    )
    return figure


def _steps(milestones: Sequence[Milestone], mode: Mode) -> go.Scatter:
    """Return the line of the narrowest format so far."""
    narrowest: list[int] = []
    for each in milestones:
        bits = min(FORMATS[name].bits for name in each.formats if name != "float8_e8m0fnu")
        narrowest.append(min([*narrowest[-1:], bits]))
    return go.Scatter(
        x=list(range(len(milestones))),
        y=[WIDTHS.index(bits) for bits in narrowest],
        mode="lines",
        line={"color": COLORS[mode]["reference"], "shape": "hv", "dash": "dot", "width": 2},
        hoverinfo="skip",
    )


def _name_points(
    figure: go.Figure, points: Sequence[tuple[int, int, str, Milestone]], size: int
) -> None:
    """Write each milestone's formats beside its marks; those of one width share a line break."""
    by_mark: dict[tuple[int, int], list[str]] = {}
    for place, bits, name, _each in points:
        by_mark.setdefault((place, bits), []).append(_SHORT.sub("", name))
    for (place, bits), names in by_mark.items():
        figure.add_annotation(
            x=place,
            y=WIDTHS.index(bits),
            text="<br>".join(names),
            showarrow=False,
            xanchor="left",
            yanchor="bottom",
            xshift=4,
            yshift=size * 0.4,
            align="left",
            font={"size": size - 2},
        )


def timeline_alt(milestones: Sequence[Milestone]) -> str:
    """Return the history as a sentence."""
    parts = [f"{each.year} {each.title}" for each in milestones]
    return _("How the numbers of machine learning became narrower: {parts}.").format(
        parts="; ".join(parts)
    )


def timeline_table(milestones: Sequence[Milestone]) -> Mapping[str, Sequence[object]]:
    """Return year, formats, what happened and the source."""
    return {
        _("year"): [each.year for each in milestones],
        _("formats"): [each.title for each in milestones],
        _("what happened"): [_(each.event) for each in milestones],
        _("source"): [each.source for each in milestones],
    }
