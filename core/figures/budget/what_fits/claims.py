"""Claims on one scale: how many times each is beyond its bound."""

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.budget.claims.claim import Ruling, Verdict
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _

VERDICTS: Final[Mapping[Verdict, str]] = {
    "possible": N_("possible"),
    "at_the_limit": N_("at the limit"),
    "impossible": N_("impossible"),
    "overstated": N_("overstated"),
}
_LOOKS: Final[Mapping[Verdict, tuple[str, str]]] = {
    "possible": ("works", "circle"),
    "at_the_limit": ("estimated", "diamond"),
    "impossible": ("refused", "x"),
    "overstated": ("optimizer", "triangle-right"),
}
_ROW_HEIGHT: Final = {False: 1.35, True: 1.5}  # of the text's size, for a line of a label
_TICKS: Final = [digit * 10.0**power for power in range(-3, 4) for digit in (1, 2, 5)]
_SMALLEST: Final = 1e-3
_LARGEST: Final = 1e3
_LINE: Final = 46  # letters of a label on a line; a Chinese one is as wide as two


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A claim in the picture: its key, the number of its stop, its translated words, the ruling."""

    key: str
    number: str
    label: str
    ruling: Ruling


Rows = Sequence[Row]


def shown_ratio(ruling: Ruling) -> float:
    """Return the ratio as it is drawn: what does not fit at all is beyond the bound by its bytes.

    A ratio beyond the ends of the axis is drawn at its end.
    """
    ratio = ruling.ratio
    if ruling.misfit is not None and ruling.memory:
        ratio = max(ratio, ruling.misfit.amount / ruling.memory)
    return min(max(ratio, _SMALLEST), _LARGEST)


def claims_picture(rows: Rows, chosen: str, look: Look) -> Picture:
    """Return one mark a claim on a scale of times the bound; right of 1 it cannot be."""
    layout, drawing = look.layout(), Drawing()
    size = layout["font"]["size"]
    for verdict in _LOOKS:
        _draw_marks(drawing, rows, verdict, look)
    line = {"color": look.color("text"), "width": 2}
    drawing.shape(type="line", x0=1, x1=1, y0=-0.5, y1=len(rows) - 0.5, line=line)
    labels = [_written(row, look, bold=row.key == chosen) for row in rows]
    num_lines = len(rows) * max(1 + label.count("<br>") for label in labels)
    axes = {
        "xaxis": layout["xaxis"] | _scale(rows),
        "yaxis": layout["yaxis"]
        | {
            "tickvals": list(range(len(rows))),
            "ticktext": labels,
            "fixedrange": True,
            "zeroline": False,
        }
        | {"range": [len(rows) - 0.5, -0.5]},
        "height": round(num_lines * size * _ROW_HEIGHT[look.present]) + 5 * size,
        "margin": {"l": 8, "r": 8, "t": 2 * size, "b": 8},
    }
    figure = drawing.figure(layout | axes | {"clickmode": "event+select"})
    parts = [
        _("{claim} {ratio} times the bound, {verdict}").format(
            claim=row.label,
            ratio=f"{shown_ratio(row.ruling):.2g}",
            verdict=_(VERDICTS[row.ruling.verdict]),
        )
        for row in rows
    ]
    return Picture(figure=figure, alt=_("; ").join(parts) + ".", table=_table(rows))


def _written(row: Row, look: Look, *, bold: bool) -> str:
    """Return a claim beside its mark, in lines; on a projector its number alone."""
    text = row.number or "★"
    if not look.present:
        text = "<br>".join(_lines(f"{row.number} {row.label}".strip()))
    return f"<b>{text}</b>" if bold else text


def _lines(text: str) -> list[str]:
    """Return a text in lines that end after a word or a Chinese sign."""
    if _width(text) <= _LINE:
        return [text]
    room = max(end for end in range(len(text)) if _width(text[:end]) <= _LINE)
    ends = [end for end in range(1, room + 1) if text[end] == " " or _is_wide(text[end - 1])]
    end = max(ends, default=room)
    return [text[:end], *_lines(text[end:].lstrip())]


def _width(text: str) -> int:
    return len(text) + sum(map(_is_wide, text))


def _is_wide(sign: str) -> bool:
    return unicodedata.east_asian_width(sign) in "WF"


def _draw_marks(drawing: Drawing, rows: Rows, verdict: Verdict, look: Look) -> None:
    meaning, symbol = _LOOKS[verdict]
    places = [place for place, row in enumerate(rows) if row.ruling.verdict == verdict]
    drawing.scatter(
        x=[shown_ratio(rows[place].ruling) for place in places],
        y=places,
        mode="markers",
        name=_(VERDICTS[verdict]),
        marker={"color": look.color(meaning), "symbol": symbol, "size": 15},
        customdata=[[rows[place].key, rows[place].label] for place in places],
        hovertemplate="%{customdata[1]}<br>%{x:.3g} ×<extra>%{fullData.name}</extra>",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def _scale(rows: Rows) -> dict[str, Any]:
    ratios = [shown_ratio(row.ruling) for row in rows]
    low, high = math.log10(min(*ratios, 0.5)) - 0.15, math.log10(max(*ratios, 2)) + 0.15
    return {
        "type": "log",
        "range": [low, high],
        "title": _("times the bound"),
        "fixedrange": True,
        "tickvals": _TICKS,
        "ticktext": [f"{tick:g}" for tick in _TICKS],
    }


def _table(rows: Rows) -> Table:
    """Return one row a claim."""
    return {
        _("claim"): [row.label for row in rows],
        _("times the bound"): [shown_ratio(row.ruling) for row in rows],
        _("verdict"): [_(VERDICTS[row.ruling.verdict]) for row in rows],
        _("said in"): [_(row.ruling.claim.source) for row in rows],
    }
