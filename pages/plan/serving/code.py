"""Plain Python that computes the numbers of a tab again, out of the rules behind them."""

import re
from collections.abc import Iterator
from typing import Final

from core.budget.item import Item

_NAME: Final = re.compile(r"[A-Za-z_]\w*")


def rules(*items: Item, known: dict[str, str] | None = None, given: str = "") -> str:
    """Return the rules of numbers as assignments, what each is made of first.

    A quantity is set again only where it changes: several numbers can stand one after the other.

    Args:
        items: The numbers.
        known: What the code before these lines has set; grows.
        given: The quantity that the code around these lines sets.
    """
    known = {} if known is None else known
    return "\n".join(line for each in items for line in _lines(each, known, given))


def _lines(item: Item, known: dict[str, str], given: str) -> Iterator[str]:
    for part in item.children:
        yield from _lines(part, known, given)
    for name in dict.fromkeys(_NAME.findall(item.formula) if item.rule else ()):
        if name not in item.values or name == given:
            continue
        number = item.values[name]
        value = f"{number:_}" if isinstance(number, int) else repr(number)
        if known.get(name) != value:
            known[name] = value
            yield f"{name} = {value}"
    yield f"{variable(item)} = {item.formula}"


def variable(item: Item) -> str:
    return item.name.replace(" ", "_")
