"""Activations that are kept, operation by operation: two runs of the same work over each other."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from core.autograd.lifetimes import Moment
from core.figures.picture import Drawing, Look, Picture
from core.language import _

_NUM_TICKS: Final = 4


def layout_of(
    look: Look, height: int, x: Mapping[str, Any], y: Mapping[str, Any], **more: object
) -> dict[str, Any]:
    """Return the layout of this page's pictures: nothing moves, the legend stands above."""
    layout = look.layout()
    still = {"fixedrange": True, "zeroline": False}
    return layout | {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 2.6 * layout["font"]["size"], "b": 8},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "xaxis": layout["xaxis"] | still | x,
        "yaxis": layout["yaxis"] | still | y,
        **more,
    }


def axis_to(most: float, title: str, words: Callable[[float], str]) -> dict[str, Any]:
    """Return an axis from 0 to a little more than the most, with its fourths as ticks."""
    ticks = [most * number / _NUM_TICKS for number in range(_NUM_TICKS + 1)]
    return {
        "title": {"text": title},
        "range": [0, most * 1.06],
        "tickvals": ticks,
        "ticktext": list(map(words, ticks)),
    }


def kept_picture(
    shown: Sequence[Moment], shown_as: str, other: Sequence[Moment], other_as: str, look: Look
) -> Picture:
    """Return bytes kept after each operation: a filled run with what it recomputes, and a line."""
    drawing = Drawing()
    _draw_areas(drawing, shown, shown_as, look)
    drawing.scatter(
        x=_places(other), y=[each.num_bytes for each in other], mode="lines", name=other_as,
        line={"color": look.color("text"), "width": 2, "dash": "dot", "shape": "hv"},
        customdata=_words(other, look), hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip
    begins = _forward_length(shown)
    if begins == _forward_length(other):
        drawing.note(
            x=begins + 0.5, y=0.6, xref="x", yref="paper", xanchor="left", yanchor="top",
            text=_("backward →"), font={"color": look.color("muted")},
        )  # fmt: skip
        drawing.shape(
            type="line", xref="x", yref="paper", x0=begins + 0.5, x1=begins + 0.5, y0=0, y1=1,
            line={"color": look.color("muted"), "width": 2, "dash": "dash"},
        )  # fmt: skip
    most = max(each.num_bytes for each in [*shown, *other])
    axes = layout_of(
        look,
        420 if look.present else 400,
        {"title": {"text": _("operations, in order")}},
        axis_to(most, _("activations kept"), look.format_bytes),
        meta="kept",
    )
    return Picture(
        figure=drawing.figure(axes),
        alt=_sentence(shown, shown_as, other, other_as, look),
        table=_table(shown, shown_as, other, other_as),
    )


def phase_name(moment: Moment) -> str:
    """Return the pass in which an operation ran, translated."""
    names = {"forward": _("forward"), "recompute": _("recomputed"), "backward": _("backward")}
    return names[moment.phase]


def _draw_areas(drawing: Drawing, moments: Sequence[Moment], name: str, look: Look) -> None:
    areas = [(name, "activations", [each.held for each in moments])]
    if any(each.recomputed for each in moments):
        label = _("recomputed during backward")
        areas.append((label, "temporary", [each.recomputed for each in moments]))
    for label, meaning, heights in areas:
        drawing.scatter(
            x=_places(moments), y=heights, mode="lines", name=label, stackgroup="kept",
            line={"color": look.color(meaning), "width": 1.5, "shape": "hv"},
            customdata=_words(moments, look), hovertemplate="%{customdata}<extra></extra>",
        )  # fmt: skip


def _forward_length(moments: Sequence[Moment]) -> int:
    """Return how many operations there are in the forward passes."""
    return sum(each.phase == "forward" for each in moments)


def _places(moments: Sequence[Moment]) -> list[int]:
    return list(range(1, len(moments) + 1))


def _words(moments: Sequence[Moment], look: Look) -> list[str]:
    message = _("{phase}: {operation}<br>{size} kept")
    return [
        message.format(
            phase=phase_name(each),
            operation=each.operation or _("end"),
            size=look.format_bytes(each.num_bytes),
        )
        for each in moments
    ]


def _sentence(
    shown: Sequence[Moment], shown_as: str, other: Sequence[Moment], other_as: str, look: Look
) -> str:
    message = _("{name}: {count} operations keep at most {peak}")
    parts = [
        message.format(
            name=name,
            count=len(moments),
            peak=look.format_bytes(max(each.num_bytes for each in moments)),
        )
        for name, moments in ((other_as, other), (shown_as, shown))
    ]
    return _("Activations kept after each operation. {parts}.").format(parts=_("; ").join(parts))


def _table(
    shown: Sequence[Moment], shown_as: str, other: Sequence[Moment], other_as: str
) -> dict[str, list[Any]]:
    rows = [(shown_as, *row) for row in enumerate(shown, 1)]
    rows += [(other_as, *row) for row in enumerate(other, 1)]
    return {
        _("run"): [name for name, _number, _each in rows],
        _("number"): [number for _name, number, _each in rows],
        _("pass"): [phase_name(each) for _name, _number, each in rows],
        _("operation"): [each.operation for _name, _number, each in rows],
        _("bytes held since the forward pass"): [each.held for _name, _number, each in rows],
        _("bytes recomputed"): [each.recomputed for _name, _number, each in rows],
        "FLOPs": [each.flops for _name, _number, each in rows],
    }
