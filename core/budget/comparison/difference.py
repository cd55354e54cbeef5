"""Why did it change? Two budgets part by part, and two scenarios one choice after the other."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

from core.budget.budget import at_peak
from core.budget.item import Item, Number, total
from core.budget.training.scenario import CHOICES, Scenario

_NAME: Final = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Input:
    """A number that a rule was given: before and after, None where the rule did not ask for it."""

    name: str
    before: Number | None
    after: Number | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One part of a budget, before and after.

    Attributes:
        path: Names from the first level down to the part.
        before: The part before; None if it is new.
        after: The part after; None if it is gone.
    """

    path: tuple[str, ...]
    before: Item | None
    after: Item | None

    @property
    def change(self) -> Number:
        """How much larger it has become, in the budget's unit."""
        return _amount(self.after) - _amount(self.before)

    @property
    def other_rule(self) -> bool:
        """Whether another formula counts it now."""
        if self.before is None or self.after is None:
            return False
        return self.before.formula != self.after.formula

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The numbers that the rules of this part ask for and that differ, by name.

        None for a part that is new or gone: all of its numbers would be.
        """
        if self.before is None or self.after is None:
            return ()
        before, after = _inputs(self.before), _inputs(self.after)
        names = [name for name in chain(before, after) if before.get(name) != after.get(name)]
        return tuple(
            Input(name, before.get(name), after.get(name)) for name in dict.fromkeys(names)
        )


@dataclass(frozen=True, slots=True)
class Move:
    """A maximum that another part decides now: a peak at another moment, another slowest rank."""

    path: tuple[str, ...]
    before: str
    after: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """Two budgets and the steps from one to the other; the changes of the steps add up."""

    before: Item
    after: Item
    steps: tuple[Step, ...]
    moves: tuple[Move, ...]

    @property
    def change(self) -> Number:
        """How much larger the whole has become."""
        return self.after.amount - self.before.amount

    @property
    def changed(self) -> tuple[Step, ...]:
        """The steps that change anything, in the order of the budget."""
        return tuple(step for step in self.steps if step.change)


def difference(before: Item, after: Item, depth: int = 8) -> Difference:
    """Compare two budgets.

    Parts of a sum are paired by name, those of the same name in their order. Of a maximum only its
    largest part is looked at, on either side, because nothing else decides the amount.

    Args:
        before: One budget.
        after: Another in the same unit.
        depth: Levels of names that are told apart; what lies deeper is one step.

    Raises:
        ValueError: If the units differ or the depth is not positive.
    """
    if before.unit != after.unit:
        raise ValueError(f"{before.unit} cannot be compared with {after.unit}")
    if depth < 1:
        raise ValueError(f"depth is {depth}; it must be at least 1")
    found = list(_compare((), before, after, depth))
    return Difference(
        before=before,
        after=after,
        steps=tuple(each for each in found if isinstance(each, Step)),
        moves=tuple(each for each in found if isinstance(each, Move)),
    )


def peak_difference(before: Item, after: Item) -> Difference:
    """Compare what two devices hold at their peaks, one step for each name.

    Args:
        before: The tree of a device of a training budget, or of several as their maximum.
        after: Another.
    """
    moves = difference(before, after, depth=1).moves + difference(before, after, depth=2).moves
    found = difference(_held(before), _held(after), depth=1)
    return Difference(
        before=before, after=after, steps=found.steps, moves=tuple(dict.fromkeys(moves))
    )


def _held(tree: Item) -> Item:
    """Return the parts of a device at its peak, side by side."""
    return total(tree.name, at_peak(_decisive(tree)), source=tree.source)


def _compare(path: tuple[str, ...], before: Item, after: Item, depth: int) -> Iterator[Step | Move]:
    old, new = _decisive(before), _decisive(after)
    if (old is not before or new is not after) and old.name != new.name:
        yield Move(path, old.name, new.name)
    if depth == 0 or not (old.children and new.children):
        yield Step(path=path or (before.name,), before=old, after=new)
        return
    left, right = _by_name(old), _by_name(new)
    for key in dict.fromkeys(chain(left, right)):
        below = (*path, key[0])
        if key in left and key in right:
            yield from _compare(below, left[key], right[key], depth - 1)
        else:
            yield Step(path=below, before=left.get(key), after=right.get(key))


def _decisive(item: Item) -> Item:
    """Return the part that decides a maximum; any other item is itself."""
    while item.combine == "max" and item.children:
        item = max(item.children, key=lambda part: part.amount)
    return item


def _by_name(item: Item) -> Mapping[tuple[str, int], Item]:
    """Return the parts by name and by how many of that name stand before."""
    found: dict[tuple[str, int], Item] = {}
    for part in item.children:
        earlier = sum(1 for name, _order in found if name == part.name)
        found[part.name, earlier] = part
    return found


def _inputs(item: Item | None) -> Mapping[str, Number]:
    """Return what the rules of an item were given; a name with two meanings in it is left out."""
    found: dict[str, Number] = {}
    unclear: set[str] = set()
    for part in item.walk() if item is not None else ():
        asked = set() if part.rule is None else set(_NAME.findall(part.rule.text))
        for name, value in part.values.items():
            if name in asked and found.setdefault(name, value) != value:
                unclear.add(name)
    return {name: value for name, value in found.items() if name not in unclear}


def _amount(item: Item | None) -> Number:
    return 0 if item is None else item.amount


@dataclass(frozen=True, kw_only=True, slots=True)
class ChoiceStep:
    """The budget before and after a change of one choice (or of some that need each other)."""

    names: tuple[str, ...]
    before: Item
    after: Item

    @property
    def change(self) -> Number:
        """How much larger the budget has become."""
        return self.after.amount - self.before.amount


def one_by_one(
    first: Scenario, last: Scenario, measure: Callable[[Scenario], Item]
) -> tuple[ChoiceStep, ...]:
    """Return what each choice changes on the way from one scenario to the other.

    The order is that of CHOICES. What a choice changes depends on those before it, so another order
    would share the whole change out in another way. A choice that cannot stand without a later one
    (8 tensor ranks before there are 8 devices) makes one step with it.

    Args:
        first: Where it starts.
        last: Where it ends.
        measure: Gives the budget of a scenario.

    Raises:
        ValueError: If one of the two scenarios has no budget.
    """
    before, after = first.choices, last.choices
    steps: list[ChoiceStep] = []
    waiting: tuple[str, ...] = ()
    here, amount, end = first, measure(first), measure(last)
    for name in (each for each in CHOICES if before[each] != after[each]):
        waiting = (*waiting, name)
        try:
            there = here.adopt(last, waiting)
            reached = end if there == last else measure(there)
        except ValueError:
            continue
        steps.append(ChoiceStep(names=waiting, before=amount, after=reached))
        here, amount, waiting = there, reached, ()
    return tuple(steps)
