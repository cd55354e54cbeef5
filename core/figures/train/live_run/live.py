"""The charts of the live run: loss, learning rate, gradient, speed and memory.

Each function draws a run, or without one the empty frame that the browser fills.
"""

import json
from dataclasses import replace
from typing import Any, Final

import plotly.graph_objects as go

from core.figures.theme import MODES, Mode
from core.figures.train.live_run.live_memory import memory
from core.figures.train.live_run.live_parts import Look, changes, frame, line, num_steps, reference
from core.figures.train.live_run.run_facts import (
    RunView,
    broken_steps,
    predicted_tokens_per_second,
    steps_and_attempts,
)
from core.language import N_, _
from core.train.run.progress import smooth
from core.train.run.records import superseded
from core.units import format_rate

EMPTY: Final = RunView()
LIGHT: Final = Look()
RUNGS: Final = (
    ("ln_vocab", "dot", N_("uniform guess, ln V = {value}")),
    ("unigram_entropy", "dash", N_("token frequencies: {value}")),
    ("bigram_entropy", "dashdot", N_("token before: {value}")),
)


def loss(run: RunView = EMPTY, look: Look = LIGHT) -> go.Figure:
    """Draw training and validation loss over the rungs that need no network.

    Source of the rungs: ln V is a uniform guess; the entropies are counted in the run's own text.
    """
    text = run.section("text")
    rungs = [
        reference(look, run, (name, _(label)), dash, (text.get(name), f"{text.get(name, 0):.2f}"))
        for name, dash, label in RUNGS
    ]
    traces = [*rungs, *_training(run, look), *_validation(run, look), changes(look, run)]
    return go.Figure(traces, frame(look, "loss", _("loss (nats per token)"), run))


def learning_rate(run: RunView = EMPTY, look: Look = LIGHT) -> go.Figure:
    """Draw the learning rate that each step really used, multiplier included."""
    points = (run.column("step"), run.column("learning_rate"))
    title = _("learning rate")
    trace = line("learning_rate", title, look.color("learning_rate"), points, showlegend=False)
    return go.Figure([trace, changes(look, run)], frame(look, "learning_rate", title, run))


def grad_norm(run: RunView = EMPTY, look: Look = LIGHT) -> go.Figure:
    """Draw the length of the gradient before clipping, and the length it is cut to."""
    points = (run.column("step"), run.column("grad_norm"))
    clip = run.section("config").get("grad_clip")
    title = _("length of the gradient")
    color = look.color("gradient_norm")
    traces = [
        reference(look, run, ("grad_clip", _("cut to {value}")), "dash", (clip, f"{clip or 0:g}")),
        line("grad_norm", title, color, points, width=1.2, showlegend=False),
        changes(look, run),
    ]
    return go.Figure(traces, frame(look, "grad_norm", title, run, "log"))


def tokens_per_second(run: RunView = EMPTY, look: Look = LIGHT) -> go.Figure:
    """Draw the measured speed, and the speed that the timing before the start promised."""
    points = (run.column("step"), run.column("tokens_per_second"))
    title = _("tokens per second")
    traces = []
    if look.show_prediction:
        rate = predicted_tokens_per_second(run)
        label = ("predicted_rate", _("predicted: {value}"))
        value = (rate, format_rate(rate or 0, _("tokens")))
        traces.append(reference(look, run, label, "dash", value))
    color = look.color("throughput")
    traces.append(line("tokens_per_second", title, color, points, width=1.2, showlegend=False))
    traces.append(changes(look, run))
    layout = frame(look, "tokens_per_second", title, run)
    layout["yaxis"] |= {"rangemode": "tozero", "exponentformat": "SI"}
    return go.Figure(traces, layout)


def specs(look: Look = LIGHT, run: RunView = EMPTY) -> list[dict[str, Any]]:
    """Return all five charts as plain JSON values (data and layout), the headline first."""
    figures = (
        loss(run, look),
        memory(run, look),
        learning_rate(run, look),
        grad_norm(run, look),
        tokens_per_second(run, look),
    )
    return [json.loads(figure.to_json()) for figure in figures]


def specs_of_both_themes(look: Look) -> dict[Mode, list[dict[str, Any]]]:
    """Return the empty charts in light and in dark, whatever the mode of `look` is."""
    return {mode: specs(replace(look, mode=mode)) for mode in MODES}


def _training(run: RunView, look: Look) -> list[go.Scatter]:
    """Thin raw loss, its thick average, and as a ghost what a later attempt has done again."""
    steps, values = run.column("step"), run.column("loss")
    redone = superseded(steps_and_attempts(run)).tolist()
    ghost = _where(steps, values, redone)
    newest = _where(steps, values, [not again for again in redone])
    average = smooth(*newest, num_steps(run))
    color, muted = look.color("training_loss"), look.color("muted")
    return [
        line("ghost", _("earlier attempt"), muted, ghost, width=1, dash="dot"),
        line("training", _("training, every step"), color, newest, width=1, opacity=0.5),
        line("smoothed", _("training, smoothed"), color, (newest[0], average), width=2.5),
    ]


def _validation(run: RunView, look: Look) -> list[go.Scatter]:
    """Validation loss, a diamond for each evaluation; a cross where the loss was not finite."""
    events = run.newest_of("eval")
    points = ([event["step"] for event in events], [event["validation_loss"] for event in events])
    diamond = {"size": 8, "symbol": "diamond"}
    cross = {"size": 12, "symbol": "x"}
    color = look.color("validation_loss")
    return [
        line("validation", _("validation"), color, points, mode="lines+markers", marker=diamond),
        line(
            "non_finite",
            _("not a finite number"),
            look.color("text"),
            broken_steps(run),
            mode="markers",
            marker=cross,
            showlegend=False,
        ),
    ]


def _where(
    steps: list[int], values: list[float | None], chosen: list[bool]
) -> tuple[list[int], list[float | None]]:
    rows = [row for row, take in zip(zip(steps, values, strict=True), chosen, strict=True) if take]
    return [step for step, _value in rows], [value for _step, value in rows]
