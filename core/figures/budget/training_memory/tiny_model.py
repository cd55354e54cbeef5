"""The account of a tiny model as two bars: by the lecture, and as torch keeps it."""

from dataclasses import replace
from typing import Final

from core.budget.by_hand.tiny_model import TinyAccount
from core.figures.budget.stacked_parts import flat_bars, parts_table, totals
from core.figures.picture import Drawing, Look, Picture
from core.language import _

HEIGHT_PX: Final = 240
_ROOM: Final = 1.15


def tiny_picture(account: TinyAccount, look: Look) -> Picture:
    """Return two stacked bars of bytes."""
    parts, kept = account.memory.children, 4 * round(account.kept.amount)
    real = [replace(p, amount=kept) if p.name == "activations" else p for p in parts]
    bars = [(_("by the formulas"), parts), (_("as torch keeps it"), real)]
    drawing, sums = Drawing(), totals(bars)
    layout = flat_bars(drawing, bars, look, reach=_ROOM * max(sums))
    frame = {"height": HEIGHT_PX, "margin": {"l": 8, "r": 24, "t": 34, "b": 8}}
    alt = _(
        "Bytes of one training step: {formulas} by the lecture's formulas, {real} as torch keeps "
        "it, because {kept} values wait for the backward pass and not {counted}."
    ).format(
        formulas=look.format_bytes(sums[0]),
        real=look.format_bytes(sums[1]),
        kept=f"{account.kept.amount:,}",
        counted=f"{account.activations.amount:,}",
    )
    table = parts_table(bars, look, _("counted"))
    return Picture(figure=drawing.figure(layout | frame), alt=alt, table=table)
