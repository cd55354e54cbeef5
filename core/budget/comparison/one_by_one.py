"""Which choice did it? From one scenario to another, one choice after the other."""

from collections.abc import Callable
from dataclasses import dataclass

from core.budget.comparison.scenario import CHOICES, Scenario
from core.budget.formula import Number
from core.budget.item import Item


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
