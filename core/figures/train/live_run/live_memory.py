"""The memory chart of the live run: what is measured at each step, beside what was predicted."""

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from core.figures.train.live_run.live_parts import Look, frame
from core.figures.train.live_run.run_facts import CATEGORIES, CATEGORY_NAMES, RunView, facts
from core.language import _
from core.train.run.progress import axis_unit


def memory(run: RunView, look: Look) -> go.Figure:
    """Draw bytes by category over the steps (left) and the newest beside the prediction (right).

    The resident size of the whole process is named as such and drawn only on request: it holds
    Python and PyTorch too, and would press the categories flat.
    """
    divisor, unit = memory_unit(run, look)
    areas = [_area(run, look, name, divisor) for name in CATEGORIES]
    bars = [_bar(run, look, name, divisor) for name in CATEGORIES]
    layout = frame(look, "memory", _("memory ({unit})").format(unit=unit), run) | {
        "barmode": "stack",
        "bargap": 0.15,
        "uniformtext": {"minsize": 9, "mode": "hide"},
        "xaxis2": {"domain": [0.62, 1], "anchor": "y", "fixedrange": True, "tickangle": 0},
    }
    layout["xaxis"] |= {"domain": [0, 0.57]}
    layout["yaxis"] |= {"rangemode": "tozero"}
    return go.Figure([*areas, _resident(run, look, divisor), *bars], layout)


def memory_unit(run: RunView, look: Look) -> tuple[int, str]:
    """Return divisor and name of the unit of the memory axis: that of the largest sum."""
    sums = [sum(event[name] for name in CATEGORIES) for event in run.newest_of("memory")]
    return axis_unit(max([0, *sums, sum(_predicted(run).values())]), look.unit)


def _area(run: RunView, look: Look, name: str, divisor: int) -> go.Scatter:
    events = run.newest_of("memory")
    return go.Scatter(
        x=[event["step"] for event in events],
        y=[event[name] / divisor for event in events],
        name=_(CATEGORY_NAMES[name]),
        showlegend=False,
        mode="lines",
        line={"color": look.color(name), "width": 1},
        stackgroup="measured",
        meta={"role": "area", "category": name},
    )


def _bar(run: RunView, look: Look, name: str, divisor: int) -> go.Bar:
    """One category of the two bars: measured is filled, predicted is hatched."""
    measured = run.newest_of("memory")
    heights = [measured[-1][name] / divisor if measured else None]
    labels = [_("measured")]
    if look.show_prediction:
        heights.append(_predicted(run).get(name, 0) / divisor if _predicted(run) else None)
        labels.append(_("predicted"))
    return go.Bar(
        x=labels,
        y=heights,
        xaxis="x2",
        name=_(CATEGORY_NAMES[name]),
        showlegend=False,
        marker={
            "color": look.color(name),
            "line": {"color": look.color(name), "width": 1},
            "pattern": {"shape": ["", "/"], "fillmode": "replace", "solidity": 0.35},
        },
        text=[_(CATEGORY_NAMES[name])],
        textposition="inside",
        textangle=0,
        insidetextanchor="middle",
        constraintext="inside",
        meta={"role": "bar", "category": name},
        hovertemplate="%{x}: %{y:.3f}<extra>%{fullData.name}</extra>",
    )


def _resident(run: RunView, look: Look, divisor: int) -> go.Scatter:
    label = _("whole process (RSS): {value}")
    newest = facts(run, look.unit)["resident_bytes"]
    return go.Scatter(
        x=run.column("step"),
        y=[value and value / divisor for value in run.column("resident_bytes")],
        name=label.format(value=newest),
        mode="lines",
        line={"color": look.color("muted"), "width": 2, "dash": "dot"},
        visible="legendonly",
        meta={"role": "resident", "label": label},
    )


def _predicted(run: RunView) -> Mapping[str, Any]:
    return run.section("prediction").get("memory") or {}
