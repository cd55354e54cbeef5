"""What is claimed, or expected, beside what was computed: two bars."""

from typing import Any, Final

from core.bugs.running import Answer
from core.figures.picture import Drawing, Look, Picture
from core.language import _

HEIGHT_PX: Final = 110
PRESENT_HEIGHT_PX: Final = 140
_ROOM: Final = 1.8  # of the longest bar: what is written behind it needs the rest


def labels(*, holds: bool) -> tuple[str, str]:
    """Return what the two values of a card are called; of a true claim, the first is no claim."""
    return (_("often expected") if holds else _("claimed")), _("computed")


def verdict_picture(
    claimed: Answer, computed: Answer, look: Look, *, holds: bool = False
) -> Picture | None:
    """Return a bar for each of two numbers, or None if they are not two lengths to compare.

    Args:
        claimed: What the claim says, or what many expect instead of a true one.
        computed: What running the code gave.
        look: How the reader wants to see.
        holds: Whether the claim is true.
    """
    if claimed.amount is None or computed.amount is None:
        return None
    lengths = [abs(claimed.amount), abs(computed.amount)]
    if not max(lengths):
        return None
    names, texts = list(labels(holds=holds)), [claimed.text, computed.text]
    alt = _("Two bars: claimed {claimed}, computed {computed}.")
    if holds:
        alt = _("Two bars: often expected {claimed}, claimed and computed {computed}.")
    drawing, layout = Drawing(), look.layout()
    drawing.bar(
        orientation="h", y=names, x=lengths, text=[f" <b>{each}</b>" for each in texts],
        textposition="outside", cliponaxis=False, hovertemplate="%{y}: %{text}<extra></extra>",
        marker={"color": [look.color("muted"), look.color("accent")],
                "pattern": {"shape": ["/", ""]}},
    )  # fmt: skip
    still: dict[str, Any] = {"fixedrange": True, "zeroline": False, "showgrid": False}
    figure = drawing.figure(
        layout
        | {
            "xaxis": layout["xaxis"]
            | still
            | {"showticklabels": False, "range": [0, max(lengths) * _ROOM]},
            "yaxis": layout["yaxis"] | still | {"autorange": "reversed"},
            "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
            "showlegend": False,
        }
    )
    return Picture(
        figure=figure,
        alt=alt.format(claimed=claimed.text, computed=computed.text),
        table={_("value"): names, _("number"): [claimed.amount, computed.amount]},
    )
