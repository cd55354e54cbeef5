"""Serving memory over one setting: flat weights, a growing KV cache, and a device that is full."""

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.budget.serving.memory import Axis, MemorySweep
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import N_, _
from core.units import GIB, ByteUnit, format_bytes

HEIGHT_PX: Final = 330
PRESENT_HEIGHT_PX: Final = 315
_ROOM: Final = 1.16  # of the highest thing: names stand above it
AXIS_TITLES: Final[Mapping[Axis, str]] = {
    "context": N_("tokens of each sequence (prompt and answer)"),
    "sequences": N_("sequences at once"),
}
_LOOKS: Final = (
    ("weights", "weights", ""),
    ("work space", "activations", "."),
    ("KV cache", "kv_cache", "/"),
)


def in_unit(num_bytes: float, unit: ByteUnit) -> float:
    """Return bytes as the number that stands on the axis."""
    return num_bytes / (GIB if unit == "GiB" else 1e9)


def memory_figure(
    sweep: MemorySweep, device: str, unit: ByteUnit, mode: Mode, *, present: bool = False
) -> go.Figure:
    """Return stacked areas against the capacity, the plan and the end marked.

    Args:
        sweep: What `core.budget.serving.memory` found.
        device: Name of the device.
        unit: "GiB" or "GB".
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    layout = plotly_layout(mode, present=present)
    drawing = Drawing()
    for (name, token, pattern), amounts in zip(_LOOKS, _parts(sweep), strict=True):
        _draw_area(drawing, sweep, (name, COLORS[mode][token], pattern), amounts, unit)
    top = max(sweep.capacity, _total(sweep, -1))
    _draw_capacity(drawing, sweep, device, unit, COLORS[mode])
    _draw_chosen(drawing, sweep, unit, COLORS[mode])
    axis = {"zeroline": False, "fixedrange": True}
    title = {"title": {"text": _(AXIS_TITLES[sweep.axis])}, "tickformat": ",d"}
    heights = {"range": [0, _ROOM * in_unit(top, unit)], "title": {"text": unit, "standoff": 8}}
    return drawing.figure(
        layout
        | {
            "template": "none",
            "xaxis": layout["xaxis"]
            | axis
            | title
            | {"showgrid": False, "range": [1, sweep.values[-1]]},
            "yaxis": layout["yaxis"] | axis | heights,
            "height": PRESENT_HEIGHT_PX if present else HEIGHT_PX,
            "margin": {"l": 8, "r": 24, "t": 34, "b": 8},
        }
    )


def _parts(sweep: MemorySweep) -> tuple[Sequence[float], ...]:
    return ([sweep.weights] * len(sweep.values), sweep.work_spaces, sweep.caches)


def _total(sweep: MemorySweep, place: int) -> float:
    return sweep.weights + sweep.caches[place] + sweep.work_spaces[place]


def _draw_area(
    drawing: Drawing,
    sweep: MemorySweep,
    look: tuple[str, str, str],
    amounts: Sequence[float],
    unit: ByteUnit,
) -> None:
    name, color, pattern = look
    drawing.scatter(
        x=sweep.values,
        y=[in_unit(amount, unit) for amount in amounts],
        stackgroup="memory",
        mode="lines",
        name=_(name),
        line={"color": color, "width": 1.5},
        fillpattern={"shape": pattern, "fgcolor": color, "fillmode": "overlay", "size": 8},
        customdata=[format_bytes(amount, unit) for amount in amounts],
        hovertemplate="%{x:,}: %{customdata}<extra>%{fullData.name}</extra>",
    )


def _draw_capacity(
    drawing: Drawing, sweep: MemorySweep, device: str, unit: ByteUnit, color: Mapping[str, str]
) -> None:
    """Draw the capacity, and a line up to it where the areas cross it."""
    height = in_unit(sweep.capacity, unit)
    line = {"color": color["refused"], "width": 3}
    drawing.shape(type="line", line=line, xref="paper", x0=0, x1=1, y0=height, y1=height)
    text = f"{device}: {format_bytes(sweep.capacity, unit)}"
    drawing.note(
        xref="paper",
        x=0.01,
        y=height,
        text=text,
        xanchor="left",
        yanchor="bottom",
        font={"color": color["refused"]},
        bgcolor=color["background"],
    )
    if 0 < sweep.largest <= sweep.values[-1]:
        dotted = {"color": color["refused"], "width": 2, "dash": "dot"}
        drawing.shape(type="line", line=dotted, x0=sweep.largest, x1=sweep.largest, y0=0, y1=height)
        drawing.note(
            x=sweep.largest,
            y=height,
            text=_("full at {value}").format(value=f"{sweep.largest:,}"),
            xanchor="right",
            yanchor="bottom",
            font={"color": color["refused"]},
        )


def _draw_chosen(
    drawing: Drawing, sweep: MemorySweep, unit: ByteUnit, color: Mapping[str, str]
) -> None:
    """Mark the plan itself."""
    total = in_unit(chosen_bytes(sweep), unit)
    drawing.scatter(
        x=[sweep.chosen, sweep.chosen],
        y=[0, total],
        mode="lines+markers",
        name=_("your plan"),
        line={"color": color["text"], "width": 2},
        marker={"color": color["text"], "size": [0, 11], "symbol": "diamond"},
        customdata=[format_bytes(chosen_bytes(sweep), unit)] * 2,
        hovertemplate="%{x:,}: %{customdata}<extra>%{fullData.name}</extra>",
    )


def chosen_bytes(sweep: MemorySweep) -> float:
    """Return the bytes of the plan."""
    return _total(sweep, sweep.values.index(sweep.chosen))


def memory_alt(sweep: MemorySweep, device: str, unit: ByteUnit) -> str:
    """Return the picture in words."""
    words = {
        "weights": format_bytes(sweep.weights, unit),
        "device": device,
        "capacity": format_bytes(sweep.capacity, unit),
        "setting": _(AXIS_TITLES[sweep.axis]),
        "largest": f"{sweep.largest:,}",
    }
    if not sweep.largest:
        return _(
            "Memory over {setting}: beside {weights} of weights nothing fits in the {capacity} of "
            "{device}."
        ).format(**words)
    if sweep.largest > sweep.values[-1]:
        words["last"] = f"{sweep.values[-1]:,}"
        return _(
            "Memory over {setting}: {weights} of weights stay, the KV cache grows, and {device} "
            "with {capacity} is not full at {last} yet."
        ).format(**words)
    return _(
        "Memory over {setting}: {weights} of weights stay, the KV cache grows, and {device} with "
        "{capacity} is full at {largest}."
    ).format(**words)


def memory_table(sweep: MemorySweep, unit: ByteUnit) -> Mapping[str, Sequence[object]]:
    """Return one row for each point of the picture."""
    columns = {
        _(name): [format_bytes(amount, unit) for amount in amounts]
        for (name, *_look), amounts in zip(_LOOKS, _parts(sweep), strict=True)
    }
    totals = [format_bytes(_total(sweep, place), unit) for place in range(len(sweep.values))]
    return {_(AXIS_TITLES[sweep.axis]): list(sweep.values), **columns, _("total"): totals}
