"""The gradient scaler step by step: the scale above, what overflows below."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.labs import ScalerStep
from core.dtypes.number_formats.table import FORMATS
from core.figures.dtypes.lab_frame import lab_figure, number, short
from core.figures.theme import COLORS, Mode
from core.language import N_, _

CHANGES: Final = {"halved": N_("halved"), "grew": N_("doubled"), "kept": N_("kept")}
_UPPER, _LOWER = (0.56, 1.0), (0.0, 0.44)


def scaler_figure(
    steps: Sequence[ScalerStep],
    current: int,
    fmt_name: str = "float16",
    mode: Mode = "light",
    *,
    present: bool = False,
) -> go.Figure:
    """Return the scale over the steps, and the largest scaled gradient beside the format's end.

    Args:
        steps: The whole series.
        current: The step that is marked, from 1.
        fmt_name: The format of the backward pass.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    x = [each.step for each in steps]
    figure = lab_figure(
        [
            _scale_line(steps, x, mode),
            *_marks(steps, mode),
            _gradients(steps, mode),
            _ceiling(steps, fmt_name, mode),
        ],
        mode,
        present=present,
        x={"title": _("step"), "anchor": "y2", "range": [0.2, len(steps) + 0.8]},
        y={"title": _("loss scale"), "domain": _UPPER, **_powers([each.scale for each in steps])},
    )
    largest = [each.peak * each.scale for each in steps]
    side = figure.layout.yaxis.to_plotly_json() | _powers([*largest, FORMATS[fmt_name].max])
    title = {"text": _("gradient × scale")}
    figure.update_layout(yaxis2=side | {"domain": _LOWER, "title": title, "anchor": "x"})
    figure.add_shape(
        type="line", x0=current, x1=current, yref="paper", y0=0, y1=1,
        line={"color": COLORS[mode]["text"], "width": 2},
    )  # fmt: skip
    return figure


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
        "ticktext": [f"2<sup>{mark}</sup>" for mark in marks],
    }


def _scale_line(steps: Sequence[ScalerStep], x: Sequence[int], mode: Mode) -> go.Scatter:
    return go.Scatter(
        x=x,
        y=[each.scale for each in steps],
        name=_("loss scale"),
        mode="lines",
        line={"shape": "hvh", "color": COLORS[mode]["accent"], "width": 3},
        hovertemplate="%{x}: %{y:,}<extra>%{fullData.name}</extra>",
    )


def _marks(steps: Sequence[ScalerStep], mode: Mode) -> list[go.Scatter]:
    rows = (
        ("halved", _("step skipped, scale halved"), "overflow", "x"),
        ("grew", _("scale doubled"), "exact", "triangle-up"),
    )
    return [
        go.Scatter(
            x=[each.step for each in steps if each.change == change],
            y=[each.scale for each in steps if each.change == change],
            name=name,
            mode="markers",
            marker={"symbol": symbol, "size": 13, "color": COLORS[mode][color]},
            hovertemplate="%{x}: %{y:,}<extra>%{fullData.name}</extra>",
        )
        for change, name, color, symbol in rows
    ]


def _gradients(steps: Sequence[ScalerStep], mode: Mode) -> go.Scatter:
    colors = COLORS[mode]
    return go.Scatter(
        x=[each.step for each in steps],
        y=[each.peak * each.scale for each in steps],
        yaxis="y2",
        mode="markers+lines",
        showlegend=False,
        line={"color": colors["muted"], "width": 1.5},
        marker={
            "size": [13 if each.found_inf else 8 for each in steps],
            "symbol": ["x" if each.found_inf else "circle" for each in steps],
            "color": [colors["overflow" if each.found_inf else "format_a"] for each in steps],
            "opacity": 1,
        },
        hovertemplate="%{x}: %{y:,.6g}<extra></extra>",
    )


def _ceiling(steps: Sequence[ScalerStep], fmt_name: str, mode: Mode) -> go.Scatter:
    most = FORMATS[fmt_name].max
    return go.Scatter(
        x=[0, len(steps) + 1],
        y=[most, most],
        yaxis="y2",
        name=_("largest {format}: {max}").format(format=short(fmt_name), max=number(most, 3)),
        mode="lines",
        line={"color": COLORS[mode]["overflow"], "width": 2, "dash": "dash"},
        hoverinfo="skip",
    )


def scaler_alt(steps: Sequence[ScalerStep], current: int) -> str:
    """Return the picture as one sentence: the path of the scale and the step that is marked."""
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


def scaler_table(steps: Sequence[ScalerStep]) -> Mapping[str, Sequence[object]]:
    """Return every step: gradient, scale, product as stored, and what happened."""
    return {
        _("step"): [each.step for each in steps],
        _("largest gradient"): [number(each.peak, 4) for each in steps],
        _("loss scale"): [number(each.scale) for each in steps],
        _("as stored"): [number(each.stored, 5) for each in steps],
        _("optimizer"): [_("skipped") if each.found_inf else _("stepped") for each in steps],
        _("scale after it"): [_(CHANGES[each.change]) for each in steps],
    }
