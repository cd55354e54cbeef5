"""A tree of items as text, Markdown and JSON: for terminals, issues and continuous integration."""

from collections.abc import Iterator
from typing import Any, Final

from core import units
from core.budget.item import Item
from core.language import _
from core.units import ByteUnit

WRITTEN: Final = {
    "parameters": units.format_count,
    "FLOPs": units.format_flops,
    "FLOP/s": units.format_flops_per_second,
    "s": units.format_seconds,
}


def amount_text(item: Item, unit: ByteUnit = "GiB") -> str:
    """Return the amount with its unit."""
    if item.unit == "bytes":
        return units.format_bytes(item.amount, unit)
    if item.unit in WRITTEN:
        return WRITTEN[item.unit](item.amount)
    return f"{item.amount:,.6g} {item.unit}"


def item_json(item: Item) -> dict[str, Any]:
    """Return a tree as JSON data, every number with formula, source and band."""
    return {
        "name": item.name,
        "amount": item.amount,
        "unit": item.unit,
        "low": item.low,
        "high": item.high,
        "kind": item.kind,
        "formula": item.formula,
        "substituted": item.substituted,
        "source": item.source,
        "combine": item.combine,
        "children": [item_json(part) for part in item.children],
    }


def item_lines(item: Item, unit: ByteUnit = "GiB", depth: int = 0) -> Iterator[str]:
    """Yield a tree as lines of text, two spaces a level."""
    name = "  " * depth + _(item.name)
    mark = " (max)" if item.combine == "max" and item.children else ""
    yield f"{name:40} {amount_text(item, unit):>12}{mark}"
    for part in item.children:
        yield from item_lines(part, unit, depth + 1)


def item_markdown(item: Item, unit: ByteUnit = "GiB") -> Iterator[str]:
    """Yield a tree as a Markdown table with formulas and sources."""
    yield "| item | amount | kind | formula | source |"
    yield "|---|---:|---|---|---|"
    for depth, part in _walk(item):
        cells = (
            "&nbsp;&nbsp;" * depth + _(part.name),
            amount_text(part, unit),
            part.kind,
            f"`{part.substituted}`",
            _(part.source),
        )
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _walk(item: Item, depth: int = 0) -> Iterator[tuple[int, Item]]:
    yield depth, item
    for part in item.children:
        yield from _walk(part, depth + 1)
