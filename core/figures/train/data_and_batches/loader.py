"""When the loader works and when the step does, one line a number of workers."""

from collections.abc import Mapping, Sequence
from typing import Final

from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.train.start.loader_speed import LoaderTiming
from core.units import format_percent, format_seconds

LINE_PX: Final = 72


def loader_picture(timings: Sequence[LoaderTiming], look: Look) -> Picture:
    """Return the timeline of each loader: waiting for a batch, then a step, twelve times."""
    drawing = Drawing()
    for role, color in (("wait", "axis_2"), ("step", "axis_1")):
        spans = [
            (label(timing), begin, length)
            for timing in timings
            for begin, length in _spans(timing)[role]
        ]
        drawing.bar(
            orientation="h", name=_roles()[role], y=[name for name, _b, _l in spans],
            base=[begin * 1e3 for _n, begin, _l in spans],
            x=[length * 1e3 for _n, _b, length in spans],
            marker={"color": look.color(color), "line": {"width": 0.5,
                    "color": look.color("background")},
                    "pattern": {"shape": "/" if role == "wait" else ""}},
            hovertemplate="%{y}: %{x:.2f} ms<extra>" + _roles()[role] + "</extra>",
        )  # fmt: skip
    layout = look.layout()
    size = layout["font"]["size"]
    fields = {
        "barmode": "overlay",
        "height": max(len(timings), 1) * LINE_PX + size * 6,
        "margin": {"l": 8, "r": 8, "t": size * 2.6, "b": 8},
        "xaxis": layout["xaxis"] | {"title": {"text": _("milliseconds")}, "zeroline": False},
        "yaxis": layout["yaxis"] | {"autorange": "reversed", "type": "category"},
    }
    return Picture(figure=drawing.figure(layout | fields), alt=_sentence(timings),
                   table=_table(timings))  # fmt: skip


def label(timing: LoaderTiming) -> str:
    """Return how a loader is called in the picture."""
    return f"num_workers={timing.num_workers}"


def _roles() -> Mapping[str, str]:
    return {"wait": _("waits for the batch"), "step": _("training step")}


def _spans(timing: LoaderTiming) -> dict[str, list[tuple[float, float]]]:
    """Return begin and length of everything on a line, in seconds."""
    spans: dict[str, list[tuple[float, float]]] = {"wait": [], "step": []}
    now = 0.0
    for waited, computed in zip(timing.wait_seconds, timing.step_seconds, strict=True):
        spans["wait"].append((now, waited))
        spans["step"].append((now + waited, computed))
        now += waited + computed
    return spans


def _sentence(timings: Sequence[LoaderTiming]) -> str:
    one = _("{name}: {seconds} for {steps} steps, {share} of it waiting")
    parts = [
        one.format(name=label(timing), seconds=format_seconds(timing.total_seconds),
                   steps=len(timing.step_seconds), share=format_percent(timing.waited))
        for timing in timings
    ]  # fmt: skip
    return _("Measured here: {parts}.").format(parts=_("; ").join(parts))


def _table(timings: Sequence[LoaderTiming]) -> dict[str, list[object]]:
    rows = [
        (label(timing), step, waited * 1e3, computed * 1e3)
        for timing in timings
        for step, (waited, computed) in enumerate(
            zip(timing.wait_seconds, timing.step_seconds, strict=True)
        )
    ]
    heads = (_("loader"), _("step"), _("waits (ms)"), _("step (ms)"))
    return {head: [row[place] for row in rows] for place, head in enumerate(heads)}
