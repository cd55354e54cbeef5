"""A mask beside the attention weights that torch made with it."""

import math
from collections.abc import Sequence
from typing import Any, Final

from core.figures.picture import Drawing, Look, Picture
from core.figures.tensors.broadcasting.layers import draw_layers
from core.language import _
from core.tensors.masks import Masked

HEIGHT_PX: Final = 400
PRESENT_HEIGHT_PX: Final = 390
_FEW: Final = 8  # tokens whose weights have room for their digits
_PANELS: Final = ([0, 0.46], [0.54, 1])
_NOTHING, _SEEN, _FUTURE, _NAN = range(4)
_SHARES: Final = (("surface", 0.9), ("accent", 0.35), ("estimated", 0.55), ("refused", 0.55))


def mask_picture(ran: Masked, look: Look, *, has_order: bool) -> Picture:
    """Return the mask at the left and the weights at the right; rows are queries.

    Args:
        ran: What torch made of the mask.
        look: How the reader wants to see.
        has_order: Whether a key behind its query is the future, and drawn as a mistake.
    """
    drawing, layout, count = Drawing(), look.layout(), len(ran.mask)
    handed = [[_SEEN if each else _NOTHING for each in row] for row in ran.mask]
    _draw(drawing, 0, handed, [[_word(is_on) for is_on in row] for row in ran.mask], look)
    levels = [[_level(ran, i, j, has_order=has_order) for j in range(count)] for i in range(count)]
    _draw(drawing, 1, levels, [[_digits(each, count) for each in row] for row in ran.weights], look)
    size = layout["font"]["size"]
    for panel, title in enumerate((_("mask[query, key]"), _("weights[query, key]"))):
        drawing.note(
            x=sum(_PANELS[panel]) / 2, y=1, xref="paper", yref="paper", xanchor="center",
            yanchor="bottom", yshift=1.7 * size, text=f"<b>{title}</b>",
        )  # fmt: skip
    fields = {
        **_axes(count, layout),
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "margin": {"l": 8, "r": 8, "t": 4 * size, "b": 4},
        "showlegend": False,
    }
    return Picture(figure=drawing.figure(layout | fields), alt=_sentence(ran), table=_table(ran))


def _word(is_on: bool) -> str:
    return "True" if is_on else "False"


def _digits(weight: float, count: int) -> str:
    if math.isnan(weight):
        return "NaN"
    digits = f"{weight:.2f}" if weight else "0"
    return digits.removeprefix("0") if count > _FEW and weight else digits


def _level(ran: Masked, query: int, key: int, *, has_order: bool) -> int:
    if math.isnan(ran.weights[query][key]):
        return _NAN
    if not ran.seen[query][key]:
        return _NOTHING
    return _FUTURE if has_order and key > query else _SEEN


def _draw(
    drawing: Drawing,
    panel: int,
    levels: Sequence[Sequence[int]],
    words: Sequence[Sequence[str]],
    look: Look,
) -> None:
    """Draw a panel: a layer for each meaning, then the words."""
    x, y = ("x", "y") if panel == 0 else ("x2", "y2")
    count = len(levels)
    draw_layers(drawing, levels, _SHARES, look, axes=(x, y))
    size = look.layout()["font"]["size"]
    is_long = count > _FEW
    drawing.scatter(
        x=[j for _i in range(count) for j in range(count)],
        y=[i for i in range(count) for _j in range(count)],
        mode="text",
        text=[word[:1] if is_long and panel == 0 else word for row in words for word in row],
        textfont={"size": size - (2 if is_long and not look.present else 0)},
        customdata=[f"[{i}, {j}]: {words[i][j]}" for i in range(count) for j in range(count)],
        hovertemplate="%{customdata}<extra></extra>",
        xaxis=x,
        yaxis=y,
    )


def _axes(count: int, layout: dict[str, Any]) -> dict[str, Any]:
    still = {"showgrid": False, "zeroline": False, "fixedrange": True, "showline": False}
    across = still | {"side": "top", "dtick": 1, "range": [-0.5, count - 0.5]}
    down = still | {"dtick": 1, "range": [count - 0.5, -0.5]}
    return {
        "xaxis": layout["xaxis"] | across | {"domain": _PANELS[0]},
        "xaxis2": layout["xaxis"] | across | {"domain": _PANELS[1], "anchor": "y2"},
        "yaxis": layout["yaxis"] | down,
        "yaxis2": layout["yaxis"] | down | {"anchor": "x2"},
    }


def _sentence(ran: Masked) -> str:
    return _(
        "A mask of {count} queries and {count} keys: {seen} pairs are seen, {future} of them in "
        "the future. Queries without a key: {empty}; rows of weights that are NaN: {nan}."
    ).format(
        count=len(ran.mask),
        seen=ran.num_seen,
        future=ran.num_future,
        empty=len(ran.empty),
        nan=ran.num_nan,
    )


def _table(ran: Masked) -> dict[str, Sequence[Any]]:
    count = range(len(ran.mask))
    return {
        _("query"): list(count),
        _("mask"): [" ".join(_word(each)[0] for each in row) for row in ran.mask],
        _("keys seen"): [sum(row) for row in ran.seen],
        _("attention weights"): [" ".join(f"{each:.3g}" for each in row) for row in ran.weights],
    }
