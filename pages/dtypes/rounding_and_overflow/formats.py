"""One number in many formats: what each stores, and how far that is from the number."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import CastTrace
from core.dtypes.exact import to_float
from core.dtypes.number_formats.format import Format
from core.figures.dtypes.rounding_and_overflow.cast_words import (
    LAMPS,
    digits,
    outcome_words,
    precision,
)
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.units import format_percent
from pages.components.bit_grid.bit_grid import hex_code
from pages.dtypes.rounding_and_overflow.answer import answered
from pages.dtypes.rounding_and_overflow.inputs import ASK, Case
from pages.shared.settings import look
from pages.shared.tabbed_page import Shown, Tab

ROW_PX: Final = 17
_FLOOR: Final = -18  # log10 of the smallest relative error drawn: below float64's own
Row = tuple[Format, CastTrace]
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "common": ("float32", "tf32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2",
               "float4_e2m1fn", "int8"),
    "wide": ("float64", "float32", "tf32", "float16", "bfloat16"),
    "eight": tuple(name for name, fmt in FORMATS.items() if fmt.bits == 8),
    "small": tuple(name for name, fmt in FORMATS.items() if fmt.bits < 8),
    "all": tuple(FORMATS),
}  # fmt: skip
GROUP_NAMES: Final = {
    "common": N_("the common ones"),
    "wide": N_("16 bits and more"),
    "eight": N_("8 bits"),
    "small": N_("below 8 bits"),
    "all": N_("all"),
}


def _choose_formats() -> str:
    return ASK.selectbox("group", _("Formats"), GROUP_NAMES, default="common")


def formats(case: Case, group: str) -> Shown:
    rows = [(FORMATS[name], case.into(FORMATS[name])) for name in GROUPS[group]]
    return answered(case, formats_picture(rows, case.said, look()), "formats")


def formats_picture(rows: Sequence[Row], said: str, look: Look) -> Picture:
    """Return one bar a format: the relative error, logarithmic; the stored number beside it."""
    drawing = Drawing()
    drawing.bar(
        orientation="h", y=[fmt.name for fmt, _trace in rows], base=[_FLOOR] * len(rows),
        x=[error_exponent(trace) - _FLOOR for _fmt, trace in rows],
        text=[
            f"{LAMPS[trace.outcome].sign} <b>{digits(trace.result, precision(fmt))}</b>"
            for fmt, trace in rows
        ],
        textposition="outside", cliponaxis=False, constraintext="none",
        textfont={"color": look.color("text")},
        marker={"color": [look.color(LAMPS[trace.outcome].color) for _fmt, trace in rows]},
        hovertext=[f"{digits(t.result, 20)}<br>{outcome_words(t)}" for _fmt, t in rows],
        hoverinfo="text",
    )  # fmt: skip
    parts = [
        _("{format} stores {result}").format(format=fmt.name, result=digits(trace.result, 8))
        for fmt, trace in rows
    ]
    alt = _("{number} in {count} formats: {parts}.").format(
        number=said, count=len(rows), parts=_(", ").join(parts)
    )
    figure = drawing.figure(_layout(len(rows), look.layout()))
    return Picture(figure=figure, alt=alt, table=formats_table(rows))


def _layout(num_rows: int, base: dict[str, Any]) -> dict[str, Any]:
    size = int(base["font"]["size"])
    exponents = list(range(_FLOOR, 1, 3))
    powers = [
        f"10<sup>−{-each}</sup>" if each else f"1 = {format_percent(1)}" for each in exponents
    ]
    across = {
        "range": [_FLOOR, 4],
        "tickvals": exponents,
        "ticktext": [_("exact"), *powers[1:]],
        "title": {"text": _("relative error")},
        "zeroline": False,
    }
    down = {"autorange": "reversed", "fixedrange": True, "showgrid": False, "dtick": 1}
    return base | {
        "height": num_rows * (ROW_PX + size // 2) + 5 * size,
        "showlegend": False,
        "bargap": 0.3,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "xaxis": base["xaxis"] | across,
        "yaxis": base["yaxis"] | down,
    }


def error_exponent(trace: CastTrace) -> float:
    """Return log10 of the relative error; the axis' floor for exact, 0 where all is lost."""
    if trace.outcome in ("nan", "infinity") or not math.isfinite(trace.result):
        return 0.0
    share = abs(to_float(trace.relative_error or Fraction(0)))
    return min(max(math.log10(share), _FLOOR), 1.0) if share else float(_FLOOR)


def formats_table(rows: Sequence[Row]) -> Table:
    traces = [trace for _fmt, trace in rows]
    errors = [trace.error for trace in traces]
    shares = [trace.relative_error for trace in traces]
    return {
        _("format"): [fmt.name for fmt, _trace in rows],
        _("stored"): [digits(trace.result, 20) for trace in traces],
        _("code"): [hex_code(fmt, trace.code) for fmt, trace in rows],
        _("error"): ["–" if error is None else digits(error, 8) for error in errors],
        _("relative error"): [
            "–" if share is None else format_percent(to_float(share)) for share in shares
        ],
        _("outcome"): [outcome_words(trace) for trace in traces],
    }


TAB = Tab(label=N_("Formats"), show=formats, choose=_choose_formats)
