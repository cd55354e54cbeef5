"""One number in many formats: what each stores, and how far that is from the number."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.cast.cast_trace import CastTrace
from core.dtypes.exact import to_float
from core.dtypes.number_formats.format import Format
from core.figures.drawing import Drawing
from core.figures.dtypes.rounding_and_overflow.cast_words import (
    LAMPS,
    digits,
    outcome_words,
    precision,
)
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _

ROW_PX: Final = 17
_FLOOR: Final = -18  # log10 of the smallest relative error drawn: below float64's own
Row = tuple[Format, CastTrace]


def cast_formats(rows: Sequence[Row], mode: Mode = "light", *, present: bool = False) -> go.Figure:
    """Draw one bar a format: the relative error, logarithmic; the stored number beside it."""
    drawing, colors = Drawing(), COLORS[mode]
    drawing.bar(
        orientation="h",
        y=[fmt.name for fmt, _trace in rows],
        base=[_FLOOR] * len(rows),
        x=[error_exponent(trace) - _FLOOR for _fmt, trace in rows],
        text=[_stored(fmt, trace) for fmt, trace in rows],
        textposition="outside",
        cliponaxis=False,
        constraintext="none",
        textfont={"color": colors["text"]},
        marker={"color": [colors[LAMPS[trace.outcome].color] for _fmt, trace in rows]},
        hovertext=[f"{digits(t.result, 20)}<br>{outcome_words(t)}" for _fmt, t in rows],
        hoverinfo="text",
    )
    return drawing.figure(_layout(len(rows), plotly_layout(mode, present=present)))


def _layout(num_rows: int, base: dict[str, Any]) -> dict[str, Any]:
    size = int(base["font"]["size"])
    exponents = list(range(_FLOOR, 1, 3))
    return {
        **base,
        "height": num_rows * (ROW_PX + size // 2) + 5 * size,
        "showlegend": False,
        "bargap": 0.3,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "xaxis": {
            **base["xaxis"],
            "range": [_FLOOR, 4],
            "tickvals": exponents,
            "ticktext": [_("exact"), *(error_text(each) for each in exponents[1:])],
            "title": {"text": _("relative error")},
            "zeroline": False,
        },
        "yaxis": {
            **base["yaxis"],
            "autorange": "reversed",
            "fixedrange": True,
            "showgrid": False,
            "dtick": 1,
        },
    }


def error_exponent(trace: CastTrace) -> float:
    """Return log10 of the relative error; the axis' floor for exact, 0 where all is lost."""
    if trace.outcome in ("nan", "infinity") or not math.isfinite(trace.result):
        return 0.0
    share = abs(to_float(trace.relative_error or Fraction(0)))
    return min(max(math.log10(share), _FLOOR), 1.0) if share else float(_FLOOR)


def error_text(exponent: int) -> str:
    """Return 10**exponent for an axis."""
    return f"10<sup>−{-exponent}</sup>" if exponent else "1 = 100 %"


def formats_alt(rows: Sequence[Row], said: str) -> str:
    """Return the picture as one sentence."""
    parts = [
        _("{format} stores {result}").format(format=fmt.name, result=digits(trace.result, 8))
        for fmt, trace in rows
    ]
    return _("{number} in {count} formats: {parts}.").format(
        number=said, count=len(rows), parts=_(", ").join(parts)
    )


def formats_table(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return what each format stores, its code, the error and the outcome."""
    return {
        _("format"): [fmt.name for fmt, _trace in rows],
        _("stored"): [digits(trace.result, 20) for _fmt, trace in rows],
        _("code"): [f"0x{trace.code:0{-(-fmt.bits // 4)}X}" for fmt, trace in rows],
        _("error"): [_error(trace) for _fmt, trace in rows],
        _("relative error"): [_relative(trace) for _fmt, trace in rows],
        _("outcome"): [outcome_words(trace) for _fmt, trace in rows],
    }


def _stored(fmt: Format, trace: CastTrace) -> str:
    return f"{LAMPS[trace.outcome].sign} <b>{digits(trace.result, precision(fmt))}</b>"


def _error(trace: CastTrace) -> str:
    return "–" if trace.error is None else digits(trace.error, 8)


def _relative(trace: CastTrace) -> str:
    share = trace.relative_error
    return "–" if share is None else f"{to_float(share) * 100:.3g} %"
