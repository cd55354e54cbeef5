"""A number that explains itself: formula, the numbers put in, unit, source, and how sure it is."""

from collections.abc import Callable, Mapping
from typing import Final

import streamlit as st

from core import units
from core.budget import Item
from core.language import N_, _
from pages.shared.settings import unit_system

KINDS: Final[Mapping[str, str]] = {
    "exact": N_("exact"),
    "measured": N_("measured"),
    "estimated": N_("estimated"),
}
_MOST_RULES: Final = 8  # of the parts of one number: more are read in a table
_WRITTEN: Final[Mapping[str, Callable[[float], str]]] = {
    "bytes": lambda amount: units.format_bytes(amount, unit_system()),
    "parameters": units.format_count,
    "FLOPs": units.format_flops,
    "FLOP/s": units.format_flops_per_second,
    "s": units.format_seconds,
    "tokens/s": lambda amount: units.format_rate(amount, _("tokens")),
    "tokens": lambda amount: f"{units.format_count(amount)} {_('tokens')}",
    "1": units.format_percent,
    "×": lambda amount: f"{amount:,.3f} ×",
    "FLOPs/byte": lambda amount: f"{amount:,.4g} FLOPs/B",
    "USD": lambda amount: f"{units.format_count(amount)} USD",
    "nats": lambda amount: f"{amount:.3f} nats",
}


def written(amount: float, unit: str) -> str:
    """Return an amount with its unit, as short as people like it.

    Raises:
        ValueError: If the unit has no way to be written.
    """
    if unit not in _WRITTEN:
        raise ValueError(f"unit {unit!r} is not known; use one of: {', '.join(_WRITTEN)}")
    return _WRITTEN[unit](amount)


def explanation(item: Item) -> str:
    """Return as Markdown what stands behind a number."""
    lines = [
        f"`{item.formula}`",
        f"`= {item.substituted}`",
        f"`= {item.amount:,} {item.unit}`",
        *_rules_below(item),
        _("Kind: {kind}").format(kind=_(KINDS[item.kind])),
        _("Source: {source}").format(source=_(item.source)),
    ]
    if item.low != item.high:
        low, high = written(item.low, item.unit), written(item.high, item.unit)
        lines.insert(3, _("Between {low} and {high}").format(low=low, high=high))
    return "\n\n".join(lines)


def _rules_below(item: Item) -> list[str]:
    """Return the formulas of the parts that the number is made of, the lowest ones."""
    below = [part for part in item.walk() if part is not item and part.rule is not None]
    return [
        f"`{part.name.replace(' ', '_')} = {part.formula} = {part.substituted}`"
        for part in below[:_MOST_RULES]
    ]


def explained_number(label: str, item: Item) -> None:
    """Show a number; what stands behind it opens at the mark beside its label.

    Args:
        label: Translated name of the number.
        item: The number.
    """
    st.metric(
        f"{label} :gray[· {_(KINDS[item.kind])}]",
        written(item.amount, item.unit),
        help=explanation(item),
    )
