"""The gradient scaler step by step: the scale above, what overflows below."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from core.dtypes.labs import ScalerStep
from core.dtypes.number_formats.table import FORMATS
from core.figures.dtypes.low_precision_training.lab_frame import LabDrawing
from core.figures.dtypes.written import number, power_of_two
from core.figures.picture import Look, Picture, Table
from core.language import N_, _

CHANGES: Final = {"halved": N_("halved"), "grew": N_("doubled"), "kept": N_("kept")}
_UPPER, _LOWER = (0.56, 1.0), (0.0, 0.44)


def scaler_picture(steps: Sequence[ScalerStep], current: int, fmt_name: str, look: Look) -> Picture:
    """Return the scale over the steps, and the largest scaled gradient beside the format's end.

    Args:
        steps: The whole series.
        current: The step that is marked, from 1.
        fmt_name: The format of the backward pass.
        look: How the reader wants to see.
    """
    drawing, products = LabDrawing(look=look), [each.peak * each.scale for each in steps]
    _draw_scale(drawing, steps)
    _draw_gradients(drawing, steps, products)
    drawing.ceiling([0, len(steps) + 1], fmt_name, width=2, yaxis="y2")
    drawing.shape(
        type="line", x0=current, x1=current, yref="paper", y0=0, y1=1,
        line={"color": look.color("text"), "width": 2},
    )  # fmt: skip
    layout = drawing.layout(
        x={"title": _("step"), "anchor": "y2", "range": [0.2, len(steps) + 0.8]},
        y={"title": _("loss scale"), "domain": _UPPER, **_powers([each.scale for each in steps])},
    )
    below = {
        **layout["yaxis"],
        **_powers([*products, FORMATS[fmt_name].max]),
        "domain": _LOWER,
        "title": {"text": _("gradient × scale")},
        "anchor": "x",
    }
    figure = drawing.figure(layout | {"yaxis2": below})
    return Picture(figure=figure, alt=_sentence(steps, current), table=_table(steps))


def _powers(values: Sequence[float]) -> dict[str, Any]:
    """Return a log axis whose marks are powers of two."""
    logs = np.log2([value for value in values if 0 < value < np.inf])
    low, high = int(np.floor(logs.min())) - 1, int(np.ceil(logs.max())) + 1
    stride = -(-(high - low) // 4)  # at most five: more would run into each other
    marks = range(low, high + 1, stride)
    return {
        "type": "log",
        "range": [low * np.log10(2), high * np.log10(2)],
        "tickvals": [2.0**mark for mark in marks],
        "ticktext": [power_of_two(mark) for mark in marks],
    }


def _draw_scale(drawing: LabDrawing, steps: Sequence[ScalerStep]) -> None:
    """Draw the scale as a line, and a mark wherever it changes."""
    look = drawing.look
    hover = "%{x}: %{y:,}<extra>%{fullData.name}</extra>"
    drawing.scatter(
        x=[each.step for each in steps],
        y=[each.scale for each in steps],
        name=_("loss scale"),
        mode="lines",
        line={"shape": "hvh", "color": look.color("accent"), "width": 3},
        hovertemplate=hover,
    )
    for change, name, color, symbol in (
        ("halved", _("step skipped, scale halved"), "overflow", "x"),
        ("grew", _("scale doubled"), "exact", "triangle-up"),
    ):
        drawing.scatter(
            x=[each.step for each in steps if each.change == change],
            y=[each.scale for each in steps if each.change == change],
            name=name,
            mode="markers",
            marker={"symbol": symbol, "size": 13, "color": look.color(color)},
            hovertemplate=hover,
        )


def _draw_gradients(
    drawing: LabDrawing, steps: Sequence[ScalerStep], products: Sequence[float]
) -> None:
    look = drawing.look
    drawing.scatter(
        x=[each.step for each in steps],
        y=products,
        yaxis="y2",
        mode="markers+lines",
        showlegend=False,
        line={"color": look.color("muted"), "width": 1.5},
        marker={
            "size": [13 if each.found_inf else 8 for each in steps],
            "symbol": ["x" if each.found_inf else "circle" for each in steps],
            "color": [look.color("overflow" if each.found_inf else "format_a") for each in steps],
            "opacity": 1,
        },
        hovertemplate="%{x}: %{y:,.6g}<extra></extra>",
    )


def _sentence(steps: Sequence[ScalerStep], current: int) -> str:
    """Return the path of the scale and the step that is marked."""
    skipped = sum(each.found_inf for each in steps)
    grew = sum(each.change == "grew" for each in steps)
    now = steps[current - 1]
    return _(
        "The loss scale over {count} steps begins at {first} and ends at {last}; {skipped} steps "
        "are skipped and the scale doubles {grew} times. At step {step} it is {scale}."
    ).format(
        count=len(steps),
        first=number(steps[0].scale),
        last=number(steps[-1].next_scale),
        skipped=skipped,
        grew=grew,
        step=now.step,
        scale=number(now.scale),
    )


def _table(steps: Sequence[ScalerStep]) -> Table:
    """Return every step: gradient, scale, product as stored, and what happened."""
    return {
        _("step"): [each.step for each in steps],
        _("largest gradient"): [number(each.peak, 4) for each in steps],
        _("loss scale"): [number(each.scale) for each in steps],
        _("as stored"): [number(each.stored, 5) for each in steps],
        _("optimizer"): [_("skipped") if each.found_inf else _("stepped") for each in steps],
        _("scale after it"): [_(CHANGES[each.change]) for each in steps],
    }
