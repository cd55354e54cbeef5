"""What one device holds at the moment when it holds most."""

from collections.abc import Iterator

from core.budget.item import Item, total


def at_peak(stage: Item) -> tuple[Item, ...]:
    """Return the parts of a device's tree at its peak, each name once.

    Of moments, one of which is the peak, only the parts of the largest are counted.
    """
    named: dict[str, list[Item]] = {}
    for part in stage.children:
        for held in _decisive(part):
            named.setdefault(held.name, []).append(held)
    return tuple(
        found[0] if len(found) == 1 else total(name, found, source=found[0].source)
        for name, found in named.items()
    )


def _decisive(part: Item) -> Iterator[Item]:
    if part.combine == "max":
        yield from max(part.children, key=lambda moment: moment.amount).children
    else:
        yield part
