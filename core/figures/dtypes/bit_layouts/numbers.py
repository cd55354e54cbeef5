"""From the smallest to the largest number of each format: bars over powers of ten."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from core.dtypes import FORMATS
from core.dtypes.facts.format_facts import FormatFacts, short_number
from core.figures.dtypes.bit_layouts.rows import DENSE_ROW_PX, are_dense, row_axes
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _

ROW_PX: Final = 34
_STEPS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def numbers_picture(
    facts: Sequence[FormatFacts], look: Look, *, with_years: bool = False
) -> Picture:
    """Return one bar for the normal numbers of each format and one for its subnormals.

    `with_years` writes before each name when the format was first written down.

    Raises:
        ValueError: If there is no format.
    """
    if not facts:
        raise ValueError("ranges need at least one format")
    layout, drawing = look.layout(), Drawing()
    for is_subnormal in (True, False):
        _draw_bars(drawing, facts, look, is_subnormal=is_subnormal)
    drawing.scatter(  # unseen: the axis at the right needs it
        x=[None], y=[0], yaxis="y2", showlegend=False, hoverinfo="skip"
    )
    line = {"color": look.color("muted"), "width": 1, "dash": "dot"}
    drawing.shape(type="line", x0=0, x1=0, xref="x", y0=0, y1=1, yref="y domain", line=line)
    size = layout["font"]["size"]
    axes = {
        **_axes(facts, layout, look, with_years=with_years),
        "height": len(facts) * max(DENSE_ROW_PX if are_dense(facts) else ROW_PX, size + 4)
        + 6 * size,
        "barmode": "overlay",
        "bargap": 0.3,
        "margin": {"l": 8, "r": 8, "t": 2 * size, "b": 8},
    }
    return Picture(figure=drawing.figure(layout | axes), alt=_sentence(facts), table=_table(facts))


def _draw_bars(
    drawing: Drawing, facts: Sequence[FormatFacts], look: Look, *, is_subnormal: bool
) -> None:
    spans = [_span(each, is_subnormal=is_subnormal) for each in facts]
    color = look.color("underflow" if is_subnormal else "exponent")
    shape = "/" if is_subnormal else ""
    drawing.bar(
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
            "pattern": {"shape": shape, "fgcolor": color, "bgcolor": look.color("background")},
        },
    )


def _span(facts: FormatFacts, *, is_subnormal: bool) -> tuple[float, float]:
    """Return where a bar begins and ends, as powers of ten."""
    normal = _log10(facts.max if facts.smallest_normal is None else facts.smallest_normal)
    return (_log10(facts.smallest), normal) if is_subnormal else (normal, _log10(facts.max))


def _log10(value: Fraction) -> float:
    """Return the decimal logarithm of a positive number, also of one beyond float64."""
    return math.log10(value.numerator) - math.log10(value.denominator)


def _axes(
    facts: Sequence[FormatFacts], layout: dict[str, Any], look: Look, *, with_years: bool
) -> dict[str, Any]:
    lowest, highest = _log10(min(f.smallest for f in facts)), _log10(max(f.max for f in facts))
    ticks = _ticks(lowest, highest)
    across = {
        "tickvals": ticks,
        "ticktext": [f"10<sup>{tick}</sup>" if tick else "1" for tick in ticks],
        "zeroline": False,
    }
    words = _(" max {max} · {digits} digits")
    ends = [
        words.format(max=short_number(each.max, 5), digits=f"{each.decimal_digits:.1f}")
        for each in facts
    ]
    names = [f"{_year(each)} {each.name}" if with_years else each.name for each in facts]
    rows = row_axes(names, ends, look, layout["yaxis"])
    return {"xaxis": layout["xaxis"] | across, **rows}


def _year(facts: FormatFacts) -> str:
    fmt = FORMATS.get(facts.name)
    return str(fmt.year) if fmt and fmt.year else "–"


def _ticks(lowest: float, highest: float) -> list[int]:
    """Return at most about ten whole powers of ten."""
    step = next((each for each in _STEPS if (highest - lowest) / each <= 10), 2000)
    return list(range(math.ceil(lowest / step) * step, math.floor(highest / step) * step + 1, step))


def _sentence(facts: Sequence[FormatFacts]) -> str:
    """Return the ends of each format."""
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
        count=len(facts), parts=_("; ").join(parts)
    )


def _table(facts: Sequence[FormatFacts]) -> Table:
    """Return our table of the formats, one row each, every number exact or marked with "…"."""
    return {
        _("format"): [each.name for each in facts],
        _("bits"): [str(each.bits) for each in facts],
        _("year"): [_year(each) for each in facts],
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
