"""What one square of the map says: its letter, and its lines when the pointer stands on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.budget.fits.matrix import Cell
from core.budget.fits.plane import Plane
from core.language import N_, _, ngettext
from core.units import ByteUnit, format_bytes

LETTERS: Final[Mapping[str, str]] = {
    "weights": N_("W"),
    "KV cache": N_("K"),
    "work space": N_("S"),
    "gradients": N_("G"),
    "optimizer": N_("O"),
    "activations": N_("A"),
    "logits and loss": N_("L"),
    "temporary": N_("T"),
    "data": N_("D"),
    "communication buffers": N_("B"),
    "allocator reserve": N_("R"),
}
"""Name of an item -> the letter that stands for it in a square."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Labels:
    """What the reader sees of a plane: a translated label for each key, and what is picked out."""

    rows: Mapping[str, str]
    columns: Mapping[str, str]
    chosen: tuple[str, str] | None = None


def letter(reason: str) -> str:
    """Return the letter of an item; an item without one of its own has its first."""
    return _(LETTERS[reason]) if reason in LETTERS else reason[:1].upper()


def square_text(cell: Cell, fewest: int) -> str:
    """Return what stands in a square: a tick, or why not and how many devices would do."""
    if not cell.reason and not cell.sentence:
        return "✓" if cell.verdict == "fits" else "≈"
    if cell.sentence:
        return "–"
    return f"{letter(cell.reason)}{_count(fewest)}×" if fewest else letter(cell.reason)


def _count(number: int) -> str:
    return f"{number // 1024}k" if number >= 1024 else str(number)


def hover_text(plane: Plane, labels: Labels, pair: tuple[str, str], unit: ByteUnit) -> str:
    """Return what a square says when the pointer stands on it."""
    cell, fewest = plane.cells[pair], plane.fewest[pair]
    head = f"<b>{labels.rows[pair[0]]}</b> · {labels.columns[pair[1]]}"
    if cell.need is None:
        return f"{head}<br>{cell.sentence}"
    sizes = _("{need} of {capacity}").format(
        need=format_bytes(cell.need.amount, unit), capacity=format_bytes(cell.capacity, unit)
    )
    return "<br>".join([head, sizes, *_reason_lines(cell, fewest)])


def _reason_lines(cell: Cell, fewest: int) -> Sequence[str]:
    if not cell.reason:
        return () if cell.verdict == "fits" else (_("fits, but not at the upper end of its band"),)
    first = _("the first that does not fit: {item}").format(item=_(cell.reason))
    if not fewest:
        return first, _("no number of devices is enough")
    enough = ngettext("{count} device is enough", "{count} devices are enough", fewest)
    return first, enough.format(count=fewest)
