"""The error of a matrix product over its inner dimension, one line an accumulator."""

from collections.abc import Sequence
from typing import Final

from core.dtypes.labs import MatmulErrors
from core.figures.dtypes.low_precision_training.lab_frame import STYLES, LabDrawing
from core.figures.dtypes.written import percent, short
from core.figures.picture import Look, Picture, Table
from core.language import _
from core.units import in_percent

_MARKS: Final = [digit * 10.0**power for power in range(-8, 2) for digit in (1, 3)]


def matmul_picture(curves: Sequence[MatmulErrors], chosen: str, depth: int, look: Look) -> Picture:
    """Return one line for each accumulator, the chosen one in bold, both axes in powers.

    Args:
        curves: The same product with different accumulators.
        chosen: Name of the accumulator that is in bold.
        depth: The inner dimension that is marked.
        look: How the reader wants to see.
    """
    drawing, depths = LabDrawing(look=look), curves[0].depths
    marks = [each for each in depths if each.bit_count() == 1]  # all of them would touch
    for curve, (meaning, dash, symbol) in zip(curves, STYLES, strict=False):
        color, bold = look.color(meaning), curve.accumulate == chosen
        drawing.scatter(
            x=list(depths),
            y=list(curve.errors),
            name=_("sums in {format}").format(format=short(curve.accumulate)),
            mode="lines+markers",
            line={"color": color, "dash": dash, "width": 5 if bold else 2.5},
            marker={"symbol": symbol, "size": 11 if bold else 8, "color": color},
            hovertemplate="K = %{x:,}: %{y:.3%}<extra>%{fullData.name}</extra>",
        )
    drawing.shape(
        type="line", x0=depth, x1=depth, xref="x", y0=0, y1=1, yref="y domain",
        line={"color": look.color("text"), "width": 2, "dash": "dot"},
    )  # fmt: skip
    layout = drawing.layout(
        x={
            "title": _("inner dimension K: products in each sum"),
            "type": "log",
            "tickvals": marks,
            "ticktext": [f"{each:,}" for each in marks],
        },
        y={
            "title": _("relative error"),
            "type": "log",
            "tickvals": _MARKS,
            "ticktext": [in_percent(f"{100 * mark:.6g}") for mark in _MARKS],
        },
    )
    return Picture(
        figure=drawing.figure(layout), alt=_sentence(curves, depth), table=_table(curves)
    )


def error_at(curve: MatmulErrors, depth: int) -> float:
    """Return the error at one of the curve's depths.

    Raises:
        ValueError: If the curve has no such depth.
    """
    if depth not in curve.depths:
        raise ValueError(
            _("K = {depth} was not computed; use one of {known}.").format(
                depth=depth, known=_(", ").join(map(str, curve.depths))
            )
        )
    return curve.errors[curve.depths.index(depth)]


def _sentence(curves: Sequence[MatmulErrors], depth: int) -> str:
    """Return every accumulator's error at the marked depth."""
    parts = [
        _("{error} with sums in {format}").format(
            error=percent(error_at(curve, depth)), format=short(curve.accumulate)
        )
        for curve in curves
    ]
    return _(
        "Relative error of a product of {storage} matrices with inner dimension {depth}: {parts}."
    ).format(storage=short(curves[0].storage), depth=f"{depth:,}", parts=_(", ").join(parts))


def _table(curves: Sequence[MatmulErrors]) -> Table:
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
