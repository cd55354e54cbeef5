"""Memory against compute: the same stack with checkpoint segments of every length."""

from collections.abc import Sequence
from typing import Any, Final

import streamlit as st

from core.autograd.layer_stack import Stack
from core.autograd.recomputation import NESTED, NONE, Run, sweep
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.units import format_flops
from pages.autograd.accumulation_and_recomputation.inputs import Case
from pages.autograd.accumulation_and_recomputation.kept import axis_to, layout_of
from pages.autograd.accumulation_and_recomputation.snippets import trade_off_snippet
from pages.shared.charts import show_table
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab

_NOTE: Final = N_(
    "Every run is a real backward pass on torch's meta device: tensors have shapes and no "
    "elements, and bytes and FLOPs are the same. Nested: a checkpoint within a checkpoint, so "
    "that each layer is recomputed from the input."
)


@st.cache_data(max_entries=16, show_spinner=False)
def swept(stack: Stack) -> tuple[Run, ...]:
    return sweep(stack)


def trade_off(case: Case) -> Shown:
    runs = swept(case.stack)
    picture = trade_off_picture(runs, look())
    return Shown(
        headline=_headline(runs),
        charts=[Chart(picture=picture, file_name="memory-against-compute")],
        notes=[] if presenting() else [_(_NOTE)],
        below=None if presenting() else lambda: _show_growth(runs),
        code=trade_off_snippet(case.stack),
    )


def _headline(runs: tuple[Run, ...]) -> str:
    plain, *checkpointed = runs
    best = min((each for each in checkpointed[:-1]), key=lambda each: each.peak)
    message = _("Of these lengths, segments of {segment} peak lowest: {peak} instead of {plain}")
    return message.format(
        segment=segment_name(best.segment),
        peak=look().format_bytes(best.peak),
        plain=look().format_bytes(plain.peak),
    )


def _show_growth(runs: tuple[Run, ...]) -> None:
    plain, *checkpointed, nested = runs
    root = min(checkpointed, key=lambda each: each.peak)
    rows = [(plain, "O(L)", "O(L)"), (root, "O(√L)", "O(L)"), (nested, "O(1)", "O(L²)")]
    show_table(
        {
            _("layers per checkpoint segment"): [segment_name(run.segment) for run, *_o in rows],
            _("peak grows as"): [memory for _run, memory, _flops in rows],
            _("peak"): [look().format_bytes(run.peak) for run, *_o in rows],
            _("FLOPs grow as"): [flops for _run, _memory, flops in rows],
            "FLOPs": [format_flops(run.flops) for run, *_o in rows],
        }
    )


def trade_off_picture(runs: Sequence[Run], look: Look) -> Picture:
    """Return two bars a run, held and peak, and a line of FLOPs with an axis of its own."""
    drawing, names = Drawing(), [segment_name(each.segment) for each in runs]
    bars = (
        (_("held after the forward pass"), "activations", [each.held for each in runs]),
        (_("peak"), "temporary", [each.peak for each in runs]),
    )
    for name, meaning, sizes in bars:
        drawing.bar(
            x=names, y=sizes, name=name, customdata=[look.format_bytes(size) for size in sizes],
            hovertemplate="%{customdata}<extra></extra>",
            marker={"color": look.color(meaning)},
        )  # fmt: skip
    flops = [each.flops for each in runs]
    drawing.scatter(
        x=names, y=flops, name="FLOPs", mode="lines+markers", yaxis="y2",
        line={"color": look.color("text"), "width": 2}, marker={"size": 9, "symbol": "diamond"},
        customdata=[format_flops(each) for each in flops],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip
    return Picture(
        figure=drawing.figure(_layout(runs, look)), alt=_sentence(runs, look), table=_table(runs)
    )


def segment_name(segment: int) -> str:
    return {NONE: _("none"), NESTED: _("nested")}.get(segment, str(segment))


def _layout(runs: Sequence[Run], look: Look) -> dict[str, Any]:
    flops = axis_to(max(each.flops for each in runs), "FLOPs", format_flops)
    peak = max(each.peak for each in runs)
    layout = layout_of(
        look,
        400,
        {"title": {"text": _("layers per checkpoint segment")}, "type": "category"},
        axis_to(peak, _("activations kept"), look.format_bytes),
        barmode="group",
    )
    second = {"overlaying": "y", "side": "right", "showgrid": False}
    return layout | {"yaxis2": layout["yaxis"] | flops | second}


def _sentence(runs: Sequence[Run], look: Look) -> str:
    message = _("{name}: {held} held, peak {peak}, {flops}")
    parts = [
        message.format(
            name=segment_name(each.segment),
            held=look.format_bytes(each.held),
            peak=look.format_bytes(each.peak),
            flops=format_flops(each.flops),
        )
        for each in runs
    ]
    return _("Activations and compute by layers per checkpoint segment. {parts}.").format(
        parts=_("; ").join(parts)
    )


def _table(runs: Sequence[Run]) -> dict[str, list[Any]]:
    return {
        _("layers per checkpoint segment"): [segment_name(each.segment) for each in runs],
        _("held (bytes)"): [each.held for each in runs],
        _("peak (bytes)"): [each.peak for each in runs],
        "FLOPs": [each.flops for each in runs],
        _("FLOPs recomputed"): [each.flops_recomputed for each in runs],
    }


TAB: Final = Tab(label=N_("Memory against compute"), show=trade_off, unseen=("segment",))
