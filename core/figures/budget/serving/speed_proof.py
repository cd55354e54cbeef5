"""31 published decoding speeds, and what our rule says about each of them."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.budget.catalogue.models import MODELS
from core.budget.serving.decode_speeds import DecodeFit, DecodeSpeed
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _
from core.units import format_percent

HEIGHT_PX: Final = 310
PRESENT_HEIGHT_PX: Final = 320
_RANGE: Final = (10.0, 500.0)
_AXIS: Final = {
    "type": "log",
    "zeroline": False,
    "fixedrange": True,
    "range": [math.log10(end) for end in _RANGE],
    "tickvals": [10, 20, 50, 100, 200, 500],
}
BAND: Final = 0.15
_LOOKS: Final = {16: ("weights", "circle"), 8: ("gradients", "square"), 4: ("optimizer", "diamond")}


def speed_figure(
    rows: Sequence[DecodeSpeed], rule: DecodeFit, mode: Mode, *, present: bool = False
) -> go.Figure:
    """Return ours over published, one marker a row; on the line they are the same."""
    layout = plotly_layout(mode, present=present)
    drawing, color = Drawing(), COLORS[mode]
    _draw_band(drawing, color)
    for width in _LOOKS:
        _draw_rows(drawing, [row for row in rows if row.width == width], rule, color)
    return drawing.figure(
        layout
        | {
            "template": "none",
            "xaxis": layout["xaxis"] | _AXIS | {"title": {"text": _("published tokens/s")}},
            "yaxis": layout["yaxis"]
            | _AXIS
            | {"title": {"text": _("tokens/s by the rule"), "standoff": 8}},
            "height": PRESENT_HEIGHT_PX if present else HEIGHT_PX,
            "margin": {"l": 8, "r": 24, "t": 34, "b": 8},
        }
    )


def _draw_rows(
    drawing: Drawing, rows: Sequence[DecodeSpeed], rule: DecodeFit, color: Mapping[str, str]
) -> None:
    """Draw the speeds of codes of one width."""
    token, symbol = _LOOKS[rows[0].width]
    drawing.scatter(
        x=[row.tokens_per_second for row in rows],
        y=[1 / rule.seconds(row) for row in rows],
        mode="markers",
        name=_("{bits} bits").format(bits=rows[0].width),
        marker={"color": color[token], "symbol": symbol, "size": 11},
        customdata=[_words(row, rule) for row in rows],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _draw_band(drawing: Drawing, color: Mapping[str, str]) -> None:
    """Draw the line on which both are the same, and 15 % to either side."""
    for factor, dash in ((1, "solid"), (1 - BAND, "dot"), (1 + BAND, "dot")):
        drawing.scatter(
            x=_RANGE,
            y=[factor * end for end in _RANGE],
            mode="lines",
            name=_("the same") if factor == 1 else _("15 % off"),
            showlegend=factor <= 1,
            line={"color": color["reference"], "width": 2, "dash": dash},
            hoverinfo="skip",
        )


def row_name(row: DecodeSpeed) -> str:
    """Return what was measured: model, bits, devices."""
    devices = f" × {row.tensor}" if row.tensor > 1 else ""
    return f"{MODELS[row.model].name}, {_('{bits} bits').format(bits=row.bits)}{devices}"


def error(row: DecodeSpeed, rule: DecodeFit) -> float:
    """Return how far the rule is from the published speed: 0.1 if it is 10 % too fast."""
    return 1 / rule.seconds(row) / row.tokens_per_second - 1


def _words(row: DecodeSpeed, rule: DecodeFit) -> str:
    return _("{what}: published {published}, rule {ours} tokens/s").format(
        what=row_name(row),
        published=f"{row.tokens_per_second:.4g}",
        ours=f"{1 / rule.seconds(row):.4g}",
    )


def speed_alt(rows: Sequence[DecodeSpeed], rule: DecodeFit) -> str:
    """Return the picture in words."""
    near = sum(abs(error(row, rule)) <= BAND for row in rows)
    return _(
        "Published speeds against the rule: {near} of {count} lie within 15 %; the farthest is "
        "{worst}."
    ).format(
        near=near,
        count=len(rows),
        worst=_words(max(rows, key=lambda row: abs(error(row, rule))), rule),
    )


def speed_table(rows: Sequence[DecodeSpeed], rule: DecodeFit) -> Mapping[str, Sequence[object]]:
    """Return one row for each published speed."""
    return {
        _("model, bits, devices"): [row_name(row) for row in rows],
        _("published tokens/s"): [f"{row.tokens_per_second:.4g}" for row in rows],
        _("tokens/s by the rule"): [f"{1 / rule.seconds(row):.4g}" for row in rows],
        _("share of the bandwidth"): [format_percent(row.mbu) for row in rows],
        _("error"): [format_percent(error(row, rule)) for row in rows],
    }
