"""What a page answers: a sentence, and numbers that explain themselves.

The suite reads the sentence and the code of a run, compares the one and runs the other.
"""

from collections.abc import Callable, Mapping
from math import inf
from typing import Final, cast

import streamlit as st

from core import units
from core.budget import Item
from core.budget.item import KIND_WORDS, hedged
from core.language import _
from pages.shared.settings import unit_system

HEADLINE: Final = "headline"
CAVEATS: Final = "caveats"
SNIPPETS: Final = "snippets"
_MOST_RULES: Final = 8  # of the parts of one number: more are read in a table
_WRITTEN: Final[Mapping[str, Callable[[float], str]]] = {
    "bytes": lambda amount: units.format_bytes(amount, unit_system()),
    "parameters": units.format_count,
    "FLOPs": units.format_flops,
    "FLOP/s": units.format_flops_per_second,
    "s": units.format_seconds,
    "tokens/s": lambda amount: units.format_rate(amount, _("tokens")),
    "tokens": lambda amount: f"{units.format_count(amount)} {_('tokens')}",
    "count": lambda amount: units.format_exact(int(amount)),
    "1": units.format_percent,
    "×": lambda amount: f"{amount:,.3f} ×",
    "FLOPs/byte": lambda amount: f"{amount:,.4g} FLOP/byte",
    "USD": lambda amount: f"{units.format_count(amount)} USD",
    "nats": lambda amount: f"{amount:.3f} nats",
}


def begin_run() -> None:
    """Forget the sentence, its caveats and the code of the last run."""
    st.session_state[HEADLINE] = ""
    st.session_state[CAVEATS] = {}
    st.session_state[SNIPPETS] = {}


def beside_headline(words: str) -> None:
    """Let the headline of this run name what its numbers do not know, in brackets behind it."""
    if words:
        cast("dict[str, None]", st.session_state.setdefault(CAVEATS, {}))[words] = None


def forget_caveats() -> None:
    """Take back what `beside_headline` was told: nothing that is shown rests on it."""
    st.session_state[CAVEATS] = {}


def with_caveats(text: str) -> str:
    """Return a sentence with what its numbers do not know in brackets behind it."""
    caveats = st.session_state.get(CAVEATS)
    if not caveats:
        return text
    end = text[-1:] if text[-1:] in ".。" else ""
    caveat = _("; ").join(caveats)
    return _("{said} ({caveat})").format(said=text.removesuffix(end), caveat=caveat) + end


def headline(text: str, *, waits: bool = False) -> None:
    """Show the sentence that states the page's number; lessons are checked against it.

    While a question about it is open and not answered yet, it waits unsaid.
    """
    text = with_caveats(text)
    st.session_state[HEADLINE] = text
    waiting = _("Predict first: the answer waits until you have chosen.")
    with st.container(key="headline"):
        # A dot between two parts ends a line, it begins none.
        st.markdown(waiting if waits else units.unbroken(text).replace(" · ", "\u00a0· "))


def written(amount: float, unit: str) -> str:
    """Return an amount with its unit, as short as people like it.

    Raises:
        ValueError: If the unit has no way to be written.
    """
    if unit not in _WRITTEN:
        raise ValueError(f"unit {unit!r} is not known; use one of: {', '.join(_WRITTEN)}")
    return _WRITTEN[unit](amount)


def explanation(item: Item) -> str:
    lines = [
        f"`{item.formula}`",
        f"`= {item.substituted}`",
        f"`= {item.amount:,} {item.unit}`",
        *_rules_below(item),
        _("Kind: {kind}").format(kind=_(KIND_WORDS[item.kind])),
        _("Source: {source}").format(source=_(item.source)),
    ]
    if item.low != item.high:
        lines.insert(3, _band(item))
    return "\n\n".join(lines)


def _band(item: Item) -> str:
    """Return between which ends a number lies; the upper one may be open."""
    low = written(item.low, item.unit)
    if item.high < inf:
        return _("Between {low} and {high}").format(low=low, high=written(item.high, item.unit))
    if not item.low:
        return _("How far off it is, is not known")
    return _("At least {low}; how much more is not known").format(low=low)


def _rules_below(item: Item) -> list[str]:
    """Return the formulas of the parts that the number is made of, the lowest ones."""
    below = [part for part in item.walk() if part is not item and part.rule is not None]
    return [
        f"`{part.name.replace(' ', '_')} = {part.formula} = {part.substituted}`"
        for part in below[:_MOST_RULES]
    ]


def explained_number(label: str, item: Item) -> None:
    """Show a number; what stands behind it opens at the mark beside its label."""
    st.metric(
        f"{label} :gray[· {_(KIND_WORDS[item.kind])}]",
        hedged(written(item.amount, item.unit), item),
        help=explanation(item),
    )


def if_fitted(text: str, *, fits: bool) -> str:
    """Return what is said of a time or a speed: of a plan that does not fit, "if it fitted"."""
    return text if fits else _("{text}, if it fitted").format(text=text)
