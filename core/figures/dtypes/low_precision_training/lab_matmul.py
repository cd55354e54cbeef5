"""The error of a matrix product over its inner dimension, one line an accumulator."""

from collections.abc import Mapping, Sequence
from typing import Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.labs import MatmulErrors
from core.figures.dtypes.lab_frame import STYLES, lab_figure, percent, short
from core.figures.theme import COLORS, Mode
from core.language import _

_MARKS: Final = [digit * 10.0**power for power in range(-8, 2) for digit in (1, 3)]


def matmul_figure(
    curves: Sequence[MatmulErrors],
    chosen: str,
    depth: int,
    mode: Mode = "light",
    *,
    present: bool = False,
) -> go.Figure:
    """Return one line for each accumulator, the chosen one in bold, both axes in powers.

    Args:
        curves: The same product with different accumulators.
        chosen: Name of the accumulator that is in bold.
        depth: The inner dimension that is marked.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    depths = curves[0].depths
    figure = lab_figure(
        [
            _line(curve, mode, style, bold=curve.accumulate == chosen)
            for curve, style in zip(curves, STYLES, strict=False)
        ],
        mode,
        present=present,
        x={
            "title": _("inner dimension K: products in each sum"),
            "type": "log",
            "tickvals": list(depths),
            "ticktext": [f"{each:,}" for each in depths],
        },
        y={
            "title": _("relative error"),
            "type": "log",
            "tickvals": _MARKS,
            "ticktext": [f"{100 * mark:.6g} %" for mark in _MARKS],
        },
    )
    figure.add_vline(x=depth, line={"color": COLORS[mode]["text"], "width": 2, "dash": "dot"})
    return figure


def _line(
    curve: MatmulErrors, mode: Mode, style: tuple[str, str, str], *, bold: bool
) -> go.Scatter:
    color, dash, symbol = style
    return go.Scatter(
        x=list(curve.depths),
        y=list(curve.errors),
        name=_("sums in {format}").format(format=short(curve.accumulate)),
        mode="lines+markers",
        line={"color": COLORS[mode][color], "dash": dash, "width": 5 if bold else 2.5},
        marker={"symbol": symbol, "size": 11 if bold else 8, "color": COLORS[mode][color]},
        hovertemplate="K = %{x:,}: %{y:.3%}<extra>%{fullData.name}</extra>",
    )


def error_at(curve: MatmulErrors, depth: int) -> float:
    """Return the error at one of the curve's depths.

    Raises:
        ValueError: If the curve has no such depth.
    """
    if depth not in curve.depths:
        raise ValueError(
            _("K = {depth} was not computed; use one of {known}.").format(
                depth=depth, known=", ".join(map(str, curve.depths))
            )
        )
    return curve.errors[curve.depths.index(depth)]


def matmul_alt(curves: Sequence[MatmulErrors], depth: int) -> str:
    """Return the picture as one sentence: every accumulator's error at the marked depth."""
    parts = [
        _("{error} with sums in {format}").format(
            error=percent(error_at(curve, depth)), format=short(curve.accumulate)
        )
        for curve in curves
    ]
    return _(
        "Relative error of a product of {storage} matrices with inner dimension {depth}: {parts}."
    ).format(storage=short(curves[0].storage), depth=f"{depth:,}", parts=", ".join(parts))


def matmul_table(curves: Sequence[MatmulErrors]) -> Mapping[str, Sequence[object]]:
    """Return the errors, a row a depth."""
    return {
        "K": [f"{depth:,}" for depth in curves[0].depths],
        **{
            _("sums in {format}").format(format=short(curve.accumulate)): [
                f"{error:.3e}" for error in curve.errors
            ]
            for curve in curves
        },
    }
