"""What stored weights consist of, and whether a memory holds them, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.budget.item import Item
from core.language import N_, _
from core.units import ByteUnit, format_bytes

PART_NAMES: Final[Mapping[str, str]] = {
    "codes": N_("codes"),
    "scales": N_("scales"),
    "the rest": N_("embeddings, head and norms in 16 bits or more"),
}
_SHARED: Final = ("scales", "zero points", "scales of the scales")


@dataclass(frozen=True, slots=True)
class Line:
    """A memory to hold the bars against: a name that everybody reads alike, and its bytes."""

    name: str
    num_bytes: float


Rows = Sequence[tuple[str, Item]]  # the format's name and the bytes behind it


def part_bytes(item: Item, part: str) -> int:
    """Return the bytes of a part of stored weights: "codes", "scales" or "the rest"."""
    wanted = _SHARED if part == "scales" else (part,)
    return sum(child.num_bytes for child in item.walk() if child.name in wanted)


def verdict(num_bytes: float, chosen: Line) -> str:
    """Return whether bytes fit into the chosen memory, or into how many of them at least."""
    if num_bytes <= chosen.num_bytes:
        return _("✓ fits")
    if not chosen.num_bytes:
        return _("✗ no memory")
    needed = -int(-num_bytes // chosen.num_bytes)
    return _("✗ ≥ {count} devices").format(count=f"{needed:,}")


def bars_alt(title: str, rows: Rows, chosen: Line, unit: ByteUnit) -> str:
    """Return the picture in words.

    Args:
        title: The model's name.
        rows: As drawn.
        chosen: As drawn.
        unit: GiB or GB.
    """
    parts = [
        f"{name} {format_bytes(item.amount, unit)} {verdict(item.amount, chosen)}"
        for name, item in rows
    ]
    return _("Weights of {model} against {device} with {memory}: {parts}.").format(
        model=title,
        device=chosen.name,
        memory=format_bytes(chosen.num_bytes, unit),
        parts=_(", ").join(parts),
    )


def bars_table(rows: Rows, chosen: Line, unit: ByteUnit) -> Mapping[str, Sequence[Any]]:
    """Return one row a format."""
    columns = {
        _(title): [format_bytes(part_bytes(item, part), unit) for _name, item in rows]
        for part, title in PART_NAMES.items()
    }
    return {
        _("weights in"): [name for name, _item in rows],
        **columns,
        _("total"): [format_bytes(item.amount, unit) for _name, item in rows],
        chosen.name: [verdict(item.amount, chosen) for _name, item in rows],
        _("formula"): [_joined(item, "formula") for _name, item in rows],
        _("with numbers"): [_joined(item, "substituted") for _name, item in rows],
    }


def _joined(item: Item, what: str) -> str:
    """Return the formulas of all parts as one sum."""
    parts = [getattr(part, what) for part in item.walk() if part.rule is not None]
    return " + ".join(parts).replace("*", "×")
