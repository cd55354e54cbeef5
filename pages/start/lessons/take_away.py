"""The card to take away: two rules with numbers put in, ready to print."""

from collections.abc import Mapping
from typing import Final

import streamlit as st

from core.budget import Item
from core.budget.by_hand.rules import flops_rule, state_rule
from core.language import _
from core.units import format_count
from pages.shared import pickers
from pages.shared.numbers import explained_number, written

# The sizes and texts that people speak of, as powers of ten of what they are called.
PARAMS: Final[Mapping[str, int]] = {
    "110k": 110_000,
    "124M": 124_000_000,
    "7B": 7_000_000_000,
    "70B": 70_000_000_000,
}
TOKENS: Final[Mapping[str, int]] = {
    "1M": 10**6,
    "1B": 10**9,
    "1T": 10**12,
    "15T": 15 * 10**12,
}


def picked_rules(page: str) -> tuple[Item, Item]:
    """Show the two sliders and return the bytes of the state and the FLOPs of the training."""
    left, right = st.columns(2, gap="large")
    with left:
        params = pickers.select_slider(
            page, "params", _("Parameters N"), list(PARAMS), default="7B"
        )
    with right:
        tokens = pickers.select_slider(page, "tokens", _("Tokens D"), list(TOKENS), default="1T")
    return state_rule(PARAMS[params]), flops_rule(PARAMS[params], TOKENS[tokens])


def rules_headline(page: str, state: Item, flops: Item) -> str:
    """Return both rules with their numbers in one line."""
    params = PARAMS[st.session_state[f"{page}_params_used"]]
    tokens = TOKENS[st.session_state[f"{page}_tokens_used"]]
    return _("{params} × 16 B = {memory}; 6 × {params} × {tokens} = {flops}").format(
        params=format_count(params),
        tokens=format_count(tokens),
        memory=written(state.amount, state.unit),
        flops=written(flops.amount, flops.unit),
    )


def show_rules(state: Item, flops: Item) -> None:
    """Show the two numbers, each with what stands behind it."""
    for label, rule in (
        (_("16 bytes a parameter"), state),
        (_("6 FLOPs a parameter and token"), flops),
    ):
        explained_number(label, rule)
        st.caption(f"`{rule.formula}`  \n`= {rule.substituted}`")
