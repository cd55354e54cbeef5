"""Two settings side by side: each number of the one beside the same of the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.budget.budget import Budget, at_peak
from core.budget.item import Item, Number
from core.language import _

Rows = Sequence[tuple[str, Item]]  # what a number is called, and the number


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """One row of a comparison."""

    name: str
    a: Item | None
    b: Item | None

    @property
    def unit(self) -> str:
        """What both numbers are counted in."""
        found = self.a or self.b
        assert found is not None  # noqa: S101  a row comes from one of the sides
        return found.unit

    @property
    def amounts(self) -> tuple[Number, Number]:
        """Both numbers; what a side does not have counts as 0 there."""
        return (self.a.amount if self.a else 0, self.b.amount if self.b else 0)

    @property
    def difference(self) -> Number:
        """How much more B is than A; negative where it is less."""
        a, b = self.amounts
        return b - a

    @property
    def ratio(self) -> float | None:
        """How many times A's number is in B's; None where A has nothing to be multiplied."""
        a, b = self.amounts
        return b / a if a else None


def side_by_side(a: Rows | Item | Budget, b: Rows | Item | Budget) -> tuple[Pair, ...]:
    """Return the rows of A in their order, then those that only B has; rows are paired by name.

    A side is rows with a name each, an item with its parts, or a budget with its parts at the peak.

    Raises:
        ValueError: If a name stands twice on a side, or for unlike units.
    """
    left, right = _named(a), _named(b)
    pairs = []
    for name in dict.fromkeys((*left, *right)):
        pair = Pair(name=name, a=left.get(name), b=right.get(name))
        if pair.a and pair.b and pair.a.unit != pair.b.unit:
            raise ValueError(
                _("{name}: {one} cannot be compared with {other}").format(
                    name=name, one=pair.a.unit, other=pair.b.unit
                )
            )
        pairs.append(pair)
    return tuple(pairs)


def _named(side: Rows | Item | Budget) -> dict[str, Item]:
    if isinstance(side, Budget):
        side = [("peak", side.item), *((part.name, part) for part in at_peak(side.largest))]
    elif isinstance(side, Item):
        side = [(side.name, side), *((part.name, part) for part in side.children)]
    named = dict(side)
    if len(named) != len(side):
        raise ValueError(f"a name stands twice in {[name for name, _item in side]}")
    return named
