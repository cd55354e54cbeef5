"""The bytes of a model's weights in several formats, codes and scales apart."""

from collections.abc import Mapping, Sequence
from typing import Final

from core.budget.item import Item
from core.figures.budget.frames import rows_of_bars, text_size, written_beside
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _

PART_NAMES: Final[Mapping[str, str]] = {
    "codes": N_("codes"),
    "scales": N_("scales"),
    "zero points": N_("zero points"),
    "scales of the scales": N_("scales of the scales"),
}
_LOOKS: Final = {
    "codes": ("weights", ""),
    "scales": ("gradients", "/"),
    "zero points": ("optimizer", "x"),
    "scales of the scales": ("activations", "."),
}
Rows = Sequence[tuple[str, Item]]  # a translated label and the bytes behind it


def weight_bytes_picture(rows: Rows, look: Look) -> Picture:
    """Return one bar a row, cut into codes, scales and what else there is; its total beside it."""
    drawing = Drawing()
    labels = [label for label, _item in rows]
    for part, (meaning, pattern) in _LOOKS.items():
        sizes = [_part_bytes(item, part) for _label, item in rows]
        if not any(sizes):
            continue
        drawing.bar(
            orientation="h",
            y=labels,
            x=sizes,
            name=_(PART_NAMES[part]),
            marker={"color": look.color(meaning), "pattern": {"shape": pattern}},
            customdata=[look.format_bytes(size) for size in sizes],
            hovertemplate="%{y}: %{customdata}<extra>%{fullData.name}</extra>",
        )
    size, amounts = text_size(look), {label: item.amount for label, item in rows}
    figure = rows_of_bars(
        drawing, look, num_rows=0, x=written_beside(drawing, amounts, look.format_bytes, 1.16),
        height=round(len(rows) * size * 1.75) + 3 * size, bargap=0.25,
        margin={"l": 8, "r": 8, "t": 32, "b": 8},
    )  # fmt: skip
    return Picture(figure=figure, alt=_sentence(rows, look), table=_table(rows, look))


def _part_bytes(item: Item, part: str) -> int:
    return sum(child.num_bytes for child in item.children if child.name == part)


def _sentence(rows: Rows, look: Look) -> str:
    parts = [f"{label} {look.format_bytes(item.amount)}" for label, item in rows]
    return _("Bytes with the scales: {parts}.").format(parts=_(", ").join(parts))


def _table(rows: Rows, look: Look) -> Table:
    columns = {
        _(PART_NAMES[part]): [look.format_bytes(_part_bytes(item, part)) for _label, item in rows]
        for part in _LOOKS
    }
    totals = [look.format_bytes(item.amount) for _label, item in rows]
    return {_("weights in"): [label for label, _item in rows], **columns, _("total"): totals}
