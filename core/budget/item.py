"""A number that can explain itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.budget.formula import Formula, Number

Kind = Literal["exact", "measured", "estimated"]
Combine = Literal["sum", "max"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One line of a budget.

    Attributes:
        name: What it is, as a word of the glossary: "weights".
        amount: The number, in `unit`.
        unit: "bytes", "parameters", "FLOPs", "FLOP/s", "s" or "tokens/s".
        low: Lower end of the honest band; equals `amount` when exact.
        high: Upper end of it.
        formula: The rule in names.
        substituted: The rule with the numbers put in.
        source: Paper, specification or measurement that the rule comes from.
        kind: exact, measured or estimated.
        combine: Whether the amount is the sum or the maximum of the children.
        children: The parts.
    """

    name: str
    amount: Number
    unit: str
    low: Number
    high: Number
    formula: str
    substituted: str
    source: str
    kind: Kind = "exact"
    combine: Combine = "sum"
    children: tuple["Item", ...] = ()

    @property
    def num_bytes(self) -> int:
        """The amount, for an item that counts bytes.

        Raises:
            ValueError: If the item counts something else.
        """
        if self.unit != "bytes":
            raise ValueError(f"{self.name} is counted in {self.unit}, not in bytes")
        return round(self.amount)

    def child(self, name: str) -> "Item":
        """Return the part of that name.

        Raises:
            KeyError: If there is none.
        """
        for part in self.children:
            if part.name == name:
                return part
        raise KeyError(name)


def item(  # noqa: PLR0913  one argument for each thing that the reader is shown
    name: str,
    formula: Formula,
    values: Mapping[str, Number],
    *,
    unit: str,
    source: str,
    kind: Kind = "exact",
    band: float = 0.0,
) -> Item:
    """Return what `formula` gives for `values`; `band` is the relative error on either side."""
    amount = formula(**values)
    return Item(
        name=name,
        amount=amount,
        unit=unit,
        low=amount * (1 - band) if band else amount,
        high=amount * (1 + band) if band else amount,
        formula=formula.text,
        substituted=formula.substituted(**values),
        source=source,
        kind=kind,
    )


def total(name: str, parts: Sequence[Item], *, source: str, combine: Combine = "sum") -> Item:
    """Return the sum (or the maximum) of items in one unit.

    Raises:
        ValueError: If there are no parts or their units differ.
    """
    units = {part.unit for part in parts}
    if len(units) != 1:
        raise ValueError(f"{name} needs parts in one unit, not in {sorted(units)}")
    fold = sum if combine == "sum" else max
    joined = " + ".join if combine == "sum" else "max({})".format
    amounts = [f"{part.amount:,}" for part in parts]
    names = [part.name.replace(" ", "_") for part in parts]
    return Item(
        name=name,
        amount=fold(part.amount for part in parts),
        unit=units.pop(),
        low=fold(part.low for part in parts),
        high=fold(part.high for part in parts),
        formula=joined(names) if combine == "sum" else joined(", ".join(names)),
        substituted=joined(amounts) if combine == "sum" else joined(", ".join(amounts)),
        source=source,
        kind="exact" if all(part.kind == "exact" for part in parts) else "estimated",
        combine=combine,
        children=tuple(parts),
    )
