"""The charts of the live run: loss, memory, learning rate, gradient and speed.

Each function draws a run, or without one the empty frame that the browser fills.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from core.figures.picture import Look
from core.figures.theme import MODES, Mode
from core.figures.train.live_run.live_parts import LiveDrawing, LiveLook
from core.figures.train.live_run.run_facts import (
    CATEGORIES,
    CATEGORY_NAMES,
    RunView,
    broken_steps,
    facts,
    predicted_tokens_per_second,
    steps_and_attempts,
)
from core.language import N_, _
from core.train.run.progress import axis_unit, smooth
from core.train.run.records import superseded
from core.units import format_rate

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

EMPTY: Final = RunView()
LIGHT: Final = Look()
# Each label ends at a third of its own, so that they never meet, however close the lines are; the
# lowest one first, where the curve is still high above it.
RUNGS: Final = (
    ("ln_vocab", "dot", N_("uniform: {value}"), 1.0),
    ("unigram_entropy", "dash", N_("unigram: {value}"), 2 / 3),
    ("bigram_entropy", "dashdot", N_("bigram: {value}"), 1 / 3),
)


NORM_TICKS: Final = tuple(digit * 10.0**power for power in range(-4, 5) for digit in (1, 2, 5))
LABEL_ROOM: Final = 0.15  # of the loss axis, below the lowest rung


def specs_of_both_themes(seen: LiveLook) -> dict[Mode, list[dict[str, Any]]]:
    """Return the empty charts as plain JSON values (data and layout) in light and in dark.

    The headline comes first; the mode of `seen` does not matter.
    """
    return {mode: specs(replace(seen, look=replace(seen.look, mode=mode)), EMPTY) for mode in MODES}


def specs(seen: LiveLook, run: RunView) -> list[dict[str, Any]]:
    """Return all five charts as plain JSON values (data and layout), the headline first."""
    look, predicted = seen.look, seen.show_prediction
    figures = (
        loss(run, look),
        memory(run, look, show_prediction=predicted),
        learning_rate(run, look),
        grad_norm(run, look),
        tokens_per_second(run, look, show_prediction=predicted),
    )
    return [json.loads(figure.to_json()) for figure in figures]


def loss(run: RunView = EMPTY, look: Look = LIGHT) -> "Figure":
    """Draw training and validation loss over the rungs that need no network.

    Source of the rungs: ln V is a uniform guess; the entropies are counted in the run's own text.
    """
    drawing, text = LiveDrawing(run=run, look=look), run.section("text")
    for name, dash, label, at in RUNGS:
        drawing.reference(name, _(label), dash, (text.get(name), f"{text.get(name, 0):.2f}"), at)
    _draw_training(drawing)
    _draw_validation(drawing)
    drawing.changes()
    room = {"include": label_room(run)}
    layout = drawing.layout("loss", _("loss (nats per token)"), autorangeoptions=room)
    return drawing.figure(layout)


def label_room(run: RunView) -> list[float]:
    """Return how far down the loss axis goes, so that the lowest rung's label is not cut."""
    rungs = [run.section("text").get(name) for name, *_more in RUNGS]
    known = [height for height in rungs if height is not None]
    if not known:
        return []
    losses = [*run.column("loss"), *(each["validation_loss"] for each in run.events_of("eval"))]
    highest = max([*known, *(value for value in losses if value is not None)])
    return [min(known) - LABEL_ROOM * (highest - min(known))]


def learning_rate(run: RunView = EMPTY, look: Look = LIGHT) -> "Figure":
    """Draw the learning rate that each step really used, multiplier included."""
    drawing, title = LiveDrawing(run=run, look=look), _("learning rate")
    points = (run.column("step"), run.column("learning_rate"))
    color = look.color("learning_rate")
    drawing.line("learning_rate", title, color, points, showlegend=False)
    drawing.changes()
    return drawing.figure(drawing.layout("learning_rate", title))


def grad_norm(run: RunView = EMPTY, look: Look = LIGHT) -> "Figure":
    """Draw the norm of the gradient before clipping, and the norm it is clipped to."""
    drawing, title = LiveDrawing(run=run, look=look), _("gradient norm")
    clip = run.section("config").get("grad_clip")
    drawing.reference("grad_clip", _("clipped at {value}"), "dash", (clip, f"{clip or 0:g}"))
    points = (run.column("step"), run.column("grad_norm"))
    color = look.color("gradient_norm")
    drawing.line("grad_norm", title, color, points, width=1.2, showlegend=False)
    drawing.changes()
    # Plotly's own labels between the powers of ten are too small for a projector.
    ticks = {"tickvals": NORM_TICKS, "ticktext": [f"{tick:g}" for tick in NORM_TICKS]}
    return drawing.figure(drawing.layout("grad_norm", title, type="log", **ticks))


def tokens_per_second(
    run: RunView = EMPTY, look: Look = LIGHT, *, show_prediction: bool = True
) -> "Figure":
    """Draw the measured speed, and the speed that the timing before the start promised."""
    drawing, title = LiveDrawing(run=run, look=look), _("tokens per second")
    if show_prediction:
        rate = predicted_tokens_per_second(run)
        value = (rate, format_rate(rate or 0, _("tokens")))
        drawing.reference("predicted_rate", _("predicted: {value}"), "dash", value)
    points = (run.column("step"), run.column("tokens_per_second"))
    color = look.color("throughput")
    drawing.line("tokens_per_second", title, color, points, width=1.2, showlegend=False)
    drawing.changes()
    axis = {"rangemode": "tozero", "exponentformat": "SI"}
    return drawing.figure(drawing.layout("tokens_per_second", title, **axis))


def memory(run: RunView = EMPTY, look: Look = LIGHT, *, show_prediction: bool = True) -> "Figure":
    """Draw bytes by category over the steps (left) and the newest beside the prediction (right).

    On a projector the bars have the whole width.

    The resident size of the whole process is named as such and drawn only on request: it holds
    Python and PyTorch too, and would press the categories flat. On a GPU that is
    another memory: there an outline over what is measured says how much was held at one time, by
    the allocator. The empty frame has both, for whichever run fills it.
    """
    drawing = LiveDrawing(run=run, look=look)
    measured = run.newest_of("memory")
    predicted: Mapping[str, Any] = run.section("prediction").get("memory") or {}
    sums = [sum(event[name] for name in CATEGORIES) for event in measured]
    divisor, unit = axis_unit(max([0, *sums, sum(predicted.values())]), look.unit)
    if not look.present:
        for name in CATEGORIES:
            _draw_area(drawing, name, divisor)
    for name in CATEGORIES:
        bars = {_("measured"): measured[-1][name] / divisor if measured else None}
        if show_prediction:
            bars[_("predicted")] = predicted.get(name, 0) / divisor if predicted else None
        _draw_bars(drawing, name, bars)
    if run.on_gpu or not run.info:
        _draw_peak(drawing, measured[-1] if measured else {}, divisor)
    if not run.on_gpu and not look.present:
        _draw_resident(drawing, divisor)
    title = _("VRAM ({unit})") if run.on_gpu else _("memory ({unit})")
    layout = drawing.layout("memory", title.format(unit=unit), rangemode="tozero")
    small = {"domain": [0, 0.34], "nticks": 2, "tickangle": 0}
    untitled = {"title": {"text": ""}}  # the loss says what it is
    layout["xaxis"] |= {"visible": False} if look.present else small | untitled
    of_bars = {"anchor": "y", "fixedrange": True, "tickangle": 0, "automargin": True}
    beside = {
        "barmode": "stack",
        "bargap": 0.15,
        "uniformtext": {"minsize": 22 if look.present else 9, "mode": "hide"},
        "xaxis2": {"domain": [0 if look.present else 0.4, 1]} | of_bars,
        "legend2": {"x": 1.02, "y": 1, "traceorder": "reversed", "font": {"size": 12}},
    }
    return drawing.figure(layout | beside)


def _draw_training(drawing: LiveDrawing) -> None:
    run, look = drawing.run, drawing.look
    redone = superseded(steps_and_attempts(run)).tolist()
    ghost: tuple[list[Any], list[Any]] = ([], [])
    newest: tuple[list[Any], list[Any]] = ([], [])
    for step, value, again in zip(run.column("step"), run.column("loss"), redone, strict=True):
        steps, values = ghost if again else newest
        steps.append(step)
        values.append(value)
    average = (newest[0], smooth(*newest, drawing.num_steps))
    color, muted = look.color("training_loss"), look.color("muted")
    drawing.line("ghost", _("earlier attempt"), muted, ghost, width=1, dash="dot")
    drawing.line("training", _("training loss"), color, newest, width=1, opacity=0.5)
    drawing.line("smoothed", _("smoothed"), color, average, width=2.5)


def _draw_validation(drawing: LiveDrawing) -> None:
    """Validation loss, a diamond for each evaluation; a cross where the loss was not finite."""
    events = drawing.run.newest_of("eval")
    drawing.line(
        "validation",
        _("validation"),
        drawing.look.color("validation_loss"),
        ([event["step"] for event in events], [event["validation_loss"] for event in events]),
        mode="lines+markers",
        marker={"size": 8, "symbol": "diamond"},
        cliponaxis=False,
    )
    drawing.line(
        "non_finite",
        _("not a finite number"),
        drawing.look.color("text"),
        broken_steps(drawing.run),
        mode="markers",
        marker={"size": 12, "symbol": "x"},
        cliponaxis=False,
        showlegend=False,
    )


def _draw_area(drawing: LiveDrawing, name: str, divisor: int) -> None:
    events = drawing.run.newest_of("memory")
    drawing.scatter(
        x=[event["step"] for event in events],
        y=[event[name] / divisor for event in events],
        name=_(CATEGORY_NAMES[name]),
        legendgroup=name,
        showlegend=False,
        mode="lines",
        line={"color": drawing.look.color(name), "width": 1},
        stackgroup="measured",
        meta={"role": "area", "category": name},
    )


def _draw_bars(drawing: LiveDrawing, name: str, bars: Mapping[str, float | None]) -> None:
    color = drawing.look.color(name)
    drawing.bar(
        x=list(bars),
        y=list(bars.values()),
        xaxis="x2",
        name=_(CATEGORY_NAMES[name]),
        legend="legend2",
        legendgroup=name,
        showlegend=not drawing.look.present,
        marker={
            "color": color,
            "line": {"color": color, "width": 1},
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


def _draw_peak(drawing: LiveDrawing, newest: Mapping[str, Any], divisor: int) -> None:
    peak, label = newest.get("peak"), _("peak: {value}")
    drawing.bar(
        x=[_("measured")],
        y=[peak and peak / divisor],
        base=[0],  # Plotly stacks no bar that says where it begins
        xaxis="x2",
        name=label.format(value=facts(drawing.run, drawing.look.unit)["peak"]),
        marker={
            "color": "rgba(0,0,0,0)",
            "line": {"color": drawing.look.color("text"), "width": 2},
        },
        meta={"role": "peak", "label": label},
        hovertemplate="%{y:.3f}<extra>%{fullData.name}</extra>",
    )


def _draw_resident(drawing: LiveDrawing, divisor: int) -> None:
    run, label = drawing.run, _("whole process (RSS): {value}")
    drawing.scatter(
        x=run.column("step"),
        y=[value and value / divisor for value in run.column("resident_bytes")],
        name=label.format(value=facts(run, drawing.look.unit)["resident_bytes"]),
        mode="lines",
        line={"color": drawing.look.color("muted"), "width": 2, "dash": "dot"},
        visible="legendonly",
        meta={"role": "resident", "label": label},
    )
