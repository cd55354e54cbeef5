"""The gradient of a leaf, call by call: what was there, what was added, where it was reset."""

from collections.abc import Sequence
from typing import Any, Final

from core.autograd.accumulation import Call
from core.figures.picture import Drawing, Look, Picture
from core.language import _

HEIGHT_PX: Final = 380


def calls_picture(calls: Sequence[Call], reset: str, look: Look) -> Picture:
    """Return a bar a call of backward: below what `.grad` held, above it what was added.

    Args:
        calls: In their order.
        reset: The code that resets the gradient: "grad = None".
        look: How the reader wants to see.
    """
    drawing = Drawing()
    places = [each.number for each in calls]
    parts = (
        (_("already in .grad"), "surface", [each.before or 0 for each in calls]),
        (_("added by this call"), "gradients", [each.added for each in calls]),
    )
    for name, fill, heights in parts:
        drawing.bar(
            x=places, y=heights, name=name, hovertemplate="%{y:g}<extra></extra>",
            marker={"color": look.color(fill),
                    "line": {"color": look.color("gradients"), "width": 2}},
        )  # fmt: skip
    for each in calls:
        text = f"<b>{each.after:g}</b>"
        drawing.note(x=each.number, y=max(each.after, 0), text=text, yanchor="bottom")
        if each.is_reset_before:
            _mark_reset(drawing, each.number, look)
    return Picture(
        figure=drawing.figure(_layout(calls, look)),
        alt=_sentence(calls, reset),
        table=_table(calls, reset),
    )


def _mark_reset(drawing: Drawing, number: int, look: Look) -> None:
    drawing.shape(
        type="line", xref="x", yref="paper", x0=number - 0.5, x1=number - 0.5, y0=0, y1=1,
        line={"color": look.color("muted"), "width": 2, "dash": "dash"},
    )  # fmt: skip


def _layout(calls: Sequence[Call], look: Look) -> dict[str, Any]:
    layout = look.layout()
    size = layout["font"]["size"]
    still = {"fixedrange": True, "zeroline": False}
    most = max(each.after for each in calls)
    return layout | {
        "height": HEIGHT_PX,
        "barmode": "stack",
        "bargap": 0.4,
        "margin": {"l": 8, "r": 8, "t": 2.6 * size, "b": 8},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "xaxis": layout["xaxis"]
        | still
        | {"title": {"text": _("call of backward")}, "dtick": 1, "showgrid": False},
        "yaxis": layout["yaxis"] | still | {"title": {"text": ".grad"}, "range": [0, most * 1.18]},
    }


def _sentence(calls: Sequence[Call], reset: str) -> str:
    values = " → ".join(f"{each.after:g}" for each in calls)
    resets = [str(each.number) for each in calls if each.is_reset_before]
    if not resets:
        return _("The gradient after each call of backward, never reset: {values}.").format(
            values=values
        )
    return _("The gradient after each call of backward: {values}. {reset} before {calls}.").format(
        values=values, reset=reset, calls=_(", ").join(resets)
    )


def _table(calls: Sequence[Call], reset: str) -> dict[str, list[Any]]:
    return {
        _("call"): [each.number for each in calls],
        _("reset before it"): [reset if each.is_reset_before else "" for each in calls],
        _(".grad before"): [each.before for each in calls],
        _("added"): [each.added for each in calls],
        _(".grad after"): [each.after for each in calls],
        _("same tensor as before"): [
            _("yes") if each.is_same_tensor else _("no") for each in calls
        ],
    }
