"""From the smallest to the largest number of each format: bars over powers of ten."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.facts.format_facts import FormatFacts, short_number
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _

ROW_PX: Final = 34
DENSE_ROW_PX: Final = 19
MAX_TALL_ROWS: Final = 9


def log10(value: Fraction) -> float:
    """Return the decimal logarithm of a positive number, also of one beyond float64."""
    return math.log10(value.numerator) - math.log10(value.denominator)


def format_ranges_figure(
    facts: Sequence[FormatFacts], mode: Mode = "light", *, present: bool = False
) -> go.Figure:
    """Draw one bar for the normal numbers of each format and one for its subnormals.

    Raises:
        ValueError: If there is no format.
    """
    if not facts:
        raise ValueError("ranges need at least one format")
    layout = plotly_layout(mode, present=present)
    size = layout["font"]["size"]
    figure = go.Figure(layout=layout)
    for is_subnormal in (True, False):
        figure.add_trace(_bars(facts, mode, is_subnormal=is_subnormal))
    # An axis without a trace is not drawn: this one carries the words at the right.
    figure.add_trace(go.Scatter(x=[None], y=[0], yaxis="y2", showlegend=False, hoverinfo="skip"))
    row = DENSE_ROW_PX if len(facts) > MAX_TALL_ROWS else ROW_PX
    figure.update_layout(
        height=len(facts) * max(row, size + 4) + 6 * size,
        barmode="overlay",
        bargap=0.3,
        margin={"l": 8, "r": 8, "t": 2 * size, "b": 8},
        **_axes(facts, layout),
    )
    figure.add_vline(x=0, line={"color": COLORS[mode]["muted"], "width": 1, "dash": "dot"})
    return figure


def _bars(facts: Sequence[FormatFacts], mode: Mode, *, is_subnormal: bool) -> go.Bar:
    spans = [_span(each, is_subnormal=is_subnormal) for each in facts]
    color = COLORS[mode]["underflow" if is_subnormal else "exponent"]
    return go.Bar(
        name=_("subnormal numbers") if is_subnormal else _("normal numbers"),
        orientation="h",
        y=list(range(len(facts))),
        base=[start for start, _end in spans],
        # A format of one single size still shows a mark.
        x=[
            max(end - start, 0.15) if end > start or not is_subnormal else 0 for start, end in spans
        ],
        customdata=[[short_number(each.smallest), short_number(each.max)] for each in facts],
        hovertemplate="%{customdata[0]} … %{customdata[1]}<extra></extra>",
        marker={
            "color": color,
            "line": {"color": color, "width": 1},
            "pattern": {
                "shape": "/" if is_subnormal else "",
                "fgcolor": color,
                "bgcolor": COLORS[mode]["background"],
            },
        },
    )


def _span(facts: FormatFacts, *, is_subnormal: bool) -> tuple[float, float]:
    """Return where a bar begins and ends, as powers of ten."""
    normal = facts.smallest_normal
    if is_subnormal:
        end = facts.max if normal is None else normal
        return log10(facts.smallest), log10(end)
    start = facts.max if normal is None else normal
    return log10(start), log10(facts.max)


def _axes(facts: Sequence[FormatFacts], layout: Mapping[str, Any]) -> dict[str, Any]:
    places = list(range(len(facts)))
    is_dense = len(facts) > MAX_TALL_ROWS
    font = (
        {**layout["font"], "size": min(layout["font"]["size"], 15)} if is_dense else layout["font"]
    )
    rows = {
        **layout["yaxis"],
        "range": [len(facts) - 0.5, -0.5],
        "tickvals": places,
        "tickfont": font,
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
    }
    lowest, highest = log10(min(f.smallest for f in facts)), log10(max(f.max for f in facts))
    ticks = _ticks(lowest, highest)
    return {
        "xaxis": {
            **layout["xaxis"],
            "tickvals": ticks,
            "ticktext": [f"10<sup>{tick}</sup>" if tick else "1" for tick in ticks],
            "zeroline": False,
        },
        "yaxis": {**rows, "ticktext": [f"{each.name} " for each in facts]},
        "yaxis2": {**rows, "overlaying": "y", "side": "right", "ticktext": _ends(facts)},
    }


def _ends(facts: Sequence[FormatFacts]) -> list[str]:
    words = _(" max {max} · {digits} digits")
    return [
        words.format(max=short_number(each.max, 5), digits=f"{each.decimal_digits:.1f}")
        for each in facts
    ]


def _ticks(lowest: float, highest: float) -> list[int]:
    """Return at most about ten whole powers of ten."""
    step = next(
        (
            each
            for each in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
            if (highest - lowest) / each <= 10
        ),
        2000,
    )
    return list(range(math.ceil(lowest / step) * step, math.floor(highest / step) * step + 1, step))


def format_ranges_alt(facts: Sequence[FormatFacts]) -> str:
    """Return the picture as a sentence with the ends of each format."""
    words = _("{name} from {smallest} to {largest}, {digits} decimal digits")
    parts = [
        words.format(
            name=each.name,
            smallest=short_number(each.smallest, 4),
            largest=short_number(each.max, 6),
            digits=f"{each.decimal_digits:.1f}",
        )
        for each in facts
    ]
    return _("The positive numbers of {count} formats: {parts}.").format(
        count=len(facts), parts="; ".join(parts)
    )


def format_table(facts: Sequence[FormatFacts]) -> dict[str, list[str]]:
    """Return our table of the formats, one row each, every number exact or marked with "…"."""
    return {
        _("format"): [each.name for each in facts],
        _("bits"): [str(each.bits) for each in facts],
        _("max"): [short_number(each.max, 8) for each in facts],
        _("min normal"): [short_number(each.smallest_normal, 6) for each in facts],
        _("smallest"): [short_number(each.smallest, 6) for each in facts],
        _("eps"): [short_number(each.eps, 6) for each in facts],
        _("decimal digits"): [f"{each.decimal_digits:.2f}" for each in facts],
        _("finite codes"): [f"{each.counts.finite:,}" for each in facts],
        _("NaN codes"): [f"{each.counts.nans:,}" for each in facts],
        _("infinities"): [str(each.counts.infinities) for each in facts],
        _("below 1"): [f"{each.share_below_one * 100:.1f} %" for each in facts],
    }
