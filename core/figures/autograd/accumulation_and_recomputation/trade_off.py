"""Memory against compute: what segments of every length keep, and what they compute again."""

from collections.abc import Sequence
from typing import Any, Final

from core.autograd.recomputation import NESTED, NONE, Run
from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.units import format_flops

HEIGHT_PX: Final = 400
_NUM_TICKS: Final = 4


def trade_off_picture(runs: Sequence[Run], look: Look) -> Picture:
    """Return two bars a run, held and peak, and a line of FLOPs with an axis of its own.

    Args:
        runs: The first one without checkpoints.
        look: How the reader wants to see.
    """
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
    """Return how a segment length is called, translated."""
    return {NONE: _("none"), NESTED: _("nested")}.get(segment, str(segment))


def _layout(runs: Sequence[Run], look: Look) -> dict[str, Any]:
    layout = look.layout()
    size = layout["font"]["size"]
    still = {"fixedrange": True, "zeroline": False}
    most, longest = max(each.peak for each in runs), max(each.flops for each in runs)
    ticks = [most * number // _NUM_TICKS for number in range(_NUM_TICKS + 1)]
    marks = [longest * number / _NUM_TICKS for number in range(_NUM_TICKS + 1)]
    return layout | {
        "height": HEIGHT_PX,
        "barmode": "group",
        "margin": {"l": 8, "r": 8, "t": 2.6 * size, "b": 8},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "xaxis": layout["xaxis"]
        | still
        | {"title": {"text": _("layers per checkpoint segment")}, "type": "category"},
        "yaxis": layout["yaxis"]
        | still
        | {"title": {"text": _("activations kept")}, "range": [0, most * 1.06],
           "tickvals": ticks, "ticktext": [look.format_bytes(tick) for tick in ticks]},
        "yaxis2": layout["yaxis"]
        | still
        | {"title": {"text": "FLOPs"}, "range": [0, longest * 1.06], "overlaying": "y",
           "side": "right", "showgrid": False,
           "tickvals": marks, "ticktext": [format_flops(mark) for mark in marks]},
    }  # fmt: skip


def _sentence(runs: Sequence[Run], look: Look) -> str:
    said = _("{name}: {held} held, peak {peak}, {flops}")
    parts = [
        said.format(
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
