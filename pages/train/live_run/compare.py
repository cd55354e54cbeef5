"""Runs side by side: their validation losses in one picture, and the settings that differ."""

from collections.abc import Sequence
from datetime import UTC, tzinfo
from typing import Any, Final

import streamlit as st

from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.train.run.directory import written_time
from core.train.run.disk import sentence_of
from core.train.run.evaluations import Curve, are_comparable, differing_settings, validation_curve
from core.train.run.shelf import RunSummary
from core.train.start.presets import preset_title
from pages.shared.charts import show_chart, table_markdown
from pages.shared.clock import browser_zone
from pages.shared.settings import look
from pages.train.live_run.settings import COURSE, LEARNING, SHAPES

MAX_RUNS: Final = 6
NOT_COMPARABLE: Final = N_(
    "These runs learn from different texts or different tokens: a nat per token is not the same "
    "for them, and the lower loss is not the better model."
)
# Colour, dash and mark of each line: whoever sees no colours still tells six runs apart.
_LINES: Final = (
    ("validation_loss", "solid", "circle"),
    ("training_loss", "dash", "square"),
    ("activations", "dot", "diamond"),
    ("optimizer", "dashdot", "triangle-up"),
    ("gradients", "longdash", "x"),
    ("kv_cache", "longdashdot", "star"),
)


def show_comparison(runs: Sequence[RunSummary]) -> None:
    try:
        curves = [validation_curve(run.directory) for run in runs]
    except (ValueError, OSError) as error:
        st.error(sentence_of(error))
        return
    picture = compare_picture(curves, look(), browser_zone())
    st.caption(picture.alt)
    show_chart(picture, key="lr_compare", file_name="validation-losses")
    rows = differing_settings(curves)
    if not rows:
        st.caption(_("All settings that change what a run learns are the same."))
        return
    labels = {row.field: _(row.label) for row in (*SHAPES, *LEARNING, *COURSE)}
    table: dict[str, list[Any]] = {
        _("Different settings"): [labels.get(name, f"`{name}`") for name in rows]
    }
    for number, name in enumerate(run_names(curves, browser_zone())):
        table[name] = [values[number] for values in rows.values()]
    st.markdown(table_markdown(table))


def compare_picture(curves: Sequence[Curve], look: Look, zone: tzinfo = UTC) -> Picture:
    """Return one line a run, of at most MAX_RUNS; `zone` is the reader's."""
    drawing, layout, names = Drawing(), look.layout(), run_names(curves, zone)
    for curve, name, (meaning, dash, symbol) in zip(curves, names, _LINES, strict=False):
        color = look.color(meaning)
        drawing.scatter(
            x=list(curve.steps),
            y=list(curve.losses),
            name=name,
            mode="lines+markers",
            line={"color": color, "dash": dash, "width": 2},
            marker={"symbol": symbol, "size": 8, "color": color},
            hovertemplate="%{x}: %{y:.3f}<extra>%{fullData.name}</extra>",
        )
    titles = {"xaxis": _("step"), "yaxis": _("validation loss (nats per token)")}
    axes = {
        name: layout[name] | {"title": {"text": text}, "zeroline": False}
        for name, text in titles.items()
    }
    axes["xaxis"] |= {"rangemode": "tozero"}
    figure = drawing.figure(layout | axes | {"showlegend": True})
    return Picture(figure=figure, alt=_sentence(curves, names), table=_table(curves, names))


def _sentence(curves: Sequence[Curve], names: Sequence[str]) -> str:
    known = [(name, curve.best) for name, curve in zip(names, curves, strict=True)]
    parts = [
        _("{name}: {loss} at step {step}").format(name=name, loss=f"{best[1]:.3f}", step=best[0])
        for name, best in known
        if best
    ]
    if not parts:
        return _("None of these runs has been evaluated yet.")
    text = _("Lowest validation loss: {parts}.").format(parts=_("; ").join(parts))
    if not are_comparable(curves):
        return f"{text} {_(NOT_COMPARABLE)}"
    if len(parts) == 1:
        return text
    best_of_all = _("{winner} has the lowest of all.")
    winner = min((best[1], name) for name, best in known if best)[1]
    return f"{text} {best_of_all.format(winner=winner)}"


def _table(curves: Sequence[Curve], names: Sequence[str]) -> Table:
    steps = sorted({step for curve in curves for step in curve.steps})
    table: dict[str, Sequence[object]] = {_("step"): steps}
    for name, curve in zip(names, curves, strict=True):
        by_step = dict(zip(curve.steps, curve.losses, strict=True))
        table[name] = [by_step.get(step, "") for step in steps]
    return table


def run_names(curves: Sequence[Curve], zone: tzinfo = UTC) -> list[str]:
    """Return the titles; runs of the same title are told apart by the time they were made."""
    times = [written_time(curve.run, zone) for curve in curves]
    if len({each[:10] for each in times}) == 1:  # the same day
        times = [each[11:] for each in times]
    names = [preset_title(curve.title) for curve in curves]
    for more in (times, [curve.run[-4:] for curve in curves]):
        names = [
            name if names.count(name) == 1 else f"{name} {mark}"
            for name, mark in zip(names, more, strict=True)
        ]
    return names
