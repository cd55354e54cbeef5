"""The card to take away: two rules with numbers put in, ready to print; the question about one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import streamlit as st

from core.budget.by_hand.rules import flops_rule, state_rule
from core.language import _
from core.units import format_count
from pages.shared.answer import explained_number, written
from pages.shared.prose import prose
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.tabbed_page import Shown
from pages.start.lessons.inputs import ASK

PRINT_CSS: Final = Path(__file__).with_name("print.css")
# The sizes and texts that people speak of, as powers of ten of what they are called.
PARAMS: Final[Mapping[str, int]] = {
    "110k": 110_000,
    "124M": 124_000_000,
    "7B": 7_000_000_000,
    "70B": 70_000_000_000,
}
TOKENS: Final[Mapping[str, int]] = {"1M": 10**6, "1B": 10**9, "1T": 10**12, "15T": 15 * 10**12}
CODE: Final = """
from core.budget.by_hand.rules import flops_rule, state_rule
from core.units import format_bytes, format_flops

print(format_bytes(state_rule(7 * 10**9).amount))
print(format_flops(flops_rule(70 * 10**9, 15 * 10**12).amount))
"""


def choose_numbers() -> tuple[int, int]:
    """Show the two sliders and return parameters and tokens."""
    params = ASK.select_slider("params", _("Parameters N"), list(PARAMS), default="7B")
    tokens = ASK.select_slider("tokens", _("Tokens D"), list(TOKENS), default="1T")
    return PARAMS[params], TOKENS[tokens]


def take_away(chosen: tuple[int, int]) -> Shown:
    """Show the card: three sentences to remember and two rules with numbers."""
    st.html(PRINT_CSS)
    params, tokens = chosen
    state, flops = state_rule(params), flops_rule(params, tokens)
    with st.container(border=True, key="lessons_take_away"):
        numbers, words = st.columns([2, 3], gap="large")
        with numbers:
            for label, rule in (
                (_("16 bytes a parameter"), state),
                (_("6 FLOPs a parameter and token"), flops),
            ):
                explained_number(label, rule)
                st.caption(f"`{rule.formula}`  \n`= {rule.substituted}`")
        with words:
            prose(__file__, "take_away")
    with st.container(key="print_hint"):
        st.caption(_("Print this page with the browser: only the card comes out."))
    said = _("{params} × 16 B = {memory}; 6 × {params} × {tokens} = {flops}").format(
        params=format_count(params),
        tokens=format_count(tokens),
        memory=written(state.amount, state.unit),
        flops=written(flops.amount, flops.unit),
    )
    return Shown(headline=said, code=CODE)


def ask_for_state() -> None:
    """Ask for the memory of the training state of a 7B model."""
    state = state_rule(PARAMS["7B"])
    part = {each.name: written(each.amount, each.unit) for each in state.children}
    predict_then_reveal(
        ASK.key("seven_billion"),
        _("How much memory do 7 B parameters take in training with AdamW, before activations?"),
        [
            Choice(part["weights"], _("Those are the bf16 weights alone: 2 bytes each.")),
            Choice(part["moments"], _("Those are AdamW's two fp32 moments: 8 bytes each.")),
            Choice(written(state.amount, state.unit)),
        ],
        _("2 for the weight, 2 for its gradient, 4 for its fp32 master copy, 8 for two moments."),
    )
