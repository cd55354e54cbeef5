"""The history of the formats: year by year, and how many bits a number takes."""

import re
from collections.abc import Sequence
from typing import Final

from core.dtypes import FORMATS
from core.dtypes.facts.history import Milestone
from core.figures.picture import Drawing, Look, Picture
from core.language import _

HEIGHT_PX: Final = 400
PRESENT_HEIGHT_PX: Final = 470
WIDTHS: Final = (64, 32, 19, 16, 8, 6, 4)
_SYMBOLS: Final = ("square", "square", "diamond", "circle", "star", "x", "cross")
_SHORT: Final = re.compile(r"^float[864]_")


def timeline_picture(milestones: Sequence[Milestone], look: Look) -> Picture:
    """Return one column for each milestone, oldest first, and a mark for each of its formats."""
    layout, drawing = look.layout(), Drawing()
    _draw_steps(drawing, milestones, look)
    _draw_formats(drawing, milestones, look, layout["font"]["size"])
    plain = {"fixedrange": True, "zeroline": False}
    across = {
        "tickvals": list(range(len(milestones))),
        "ticktext": [f"{each.year}<br>{each.who}" for each in milestones],
        "range": [-0.5, len(milestones) - 0.2],
        "showgrid": False,
        "title": {"text": _("one column a milestone, one row a width: not to scale")},
    }
    up = {
        "tickvals": list(range(len(WIDTHS))),
        "ticktext": [_("{bits} bits").format(bits=bits) for bits in WIDTHS],
        "range": [len(WIDTHS) - 0.4, -0.6],
    }
    axes = {
        "xaxis": layout["xaxis"] | plain | across,
        "yaxis": layout["yaxis"] | plain | up,
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "showlegend": False,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
    }
    said = _("; ").join(f"{each.year} {each.title}" for each in milestones)
    return Picture(
        figure=drawing.figure(layout | axes),
        alt=_("How the numbers of machine learning became narrower: {parts}.").format(parts=said),
        table={
            _("year"): [each.year for each in milestones],
            _("formats"): [each.title for each in milestones],
            _("what happened"): [_(each.event) for each in milestones],
            _("source"): [each.source for each in milestones],
        },
    )


def _draw_steps(drawing: Drawing, milestones: Sequence[Milestone], look: Look) -> None:
    """Draw the line of the narrowest format so far."""
    narrowest: list[int] = []
    for each in milestones:
        bits = min(FORMATS[name].bits for name in each.formats if name != "float8_e8m0fnu")
        narrowest.append(min([*narrowest[-1:], bits]))
    drawing.scatter(
        x=list(range(len(milestones))),
        y=[WIDTHS.index(bits) for bits in narrowest],
        mode="lines",
        line={"color": look.color("reference"), "shape": "hv", "dash": "dot", "width": 2},
        hoverinfo="skip",
    )


def _draw_formats(drawing: Drawing, milestones: Sequence[Milestone], look: Look, size: int) -> None:
    """Draw a mark a format, with its name; names of one width and milestone share a place."""
    points = [
        (place, WIDTHS.index(FORMATS[name].bits), name, each)
        for place, each in enumerate(milestones)
        for name in each.formats
    ]
    symbols = [_SYMBOLS[width] for _place, width, *_rest in points]
    drawing.scatter(
        x=[place for place, *_rest in points],
        y=[width for _place, width, *_rest in points],
        mode="markers",
        marker={"color": look.color("exponent"), "size": size, "symbol": symbols},
        customdata=[[name, each.year, _(each.event)] for *_rest, name, each in points],
        hovertemplate="%{customdata[0]}, %{customdata[1]}<br>%{customdata[2]}<extra></extra>",
    )
    by_mark: dict[tuple[int, int], list[str]] = {}
    for place, width, name, _each in points:
        by_mark.setdefault((place, width), []).append(_SHORT.sub("", name))
    for (place, width), names in by_mark.items():
        drawing.note(
            x=place,
            y=width,
            text="<br>".join(names),
            xanchor="left",
            yanchor="bottom",
            xshift=4,
            yshift=size * 0.4,
            align="left",
            font={"size": size - 2},
        )
