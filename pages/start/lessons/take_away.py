"""The card to take away: two rules with numbers put in, ready to print; the question about one."""

from pathlib import Path
from typing import Final

import streamlit as st

from core.budget.by_hand.rules import flops_rule, state_rule
from core.language import _
from pages.shared.answer import explained_number, written
from pages.shared.prose import prose
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import presenting
from pages.shared.tabbed_page import Shown
from pages.start.lessons.inputs import ASK, PARAMS, TOKENS

_PRINT_CSS: Final = Path(__file__).with_name("print.css")
_CODE: Final = """
params, tokens = {params:_}, {tokens:_}
state = params * (2 + 2 + 4 + 4 + 4)  # weight, gradient, fp32 copy, two moments
flops = 6 * params * tokens  # forward 2, backward 4
print(f"{{state:,}} bytes = {{state / 2**30:,.3g}} GiB = {{state / 1e9:,.3g}} GB")
print(f"{{flops:.3g}} FLOPs")
"""


def take_away(chosen: tuple[str, str]) -> Shown:
    """Show the card: three sentences to remember and two rules with numbers."""
    st.html(_PRINT_CSS)
    params, tokens = PARAMS[chosen[0]], TOKENS[chosen[1]]
    state, flops = state_rule(params), flops_rule(params, tokens)
    with st.container(border=True, key="lessons_take_away"):
        numbers, words = (
            (st.container(horizontal=True), st.container())
            if presenting()
            else st.columns([2, 3], gap="large")
        )
        with numbers:
            for label, rule in (
                (_("16 bytes a parameter"), state),
                (_("6 FLOPs a parameter and token"), flops),
            ):
                explained_number(label, rule)
                if not presenting():  # there it stands behind the mark beside the number
                    st.markdown(f"`{rule.formula}`  \n`= {rule.substituted}`")
        with words:
            prose(__file__, "take_away")
    with st.container(key="print_hint"):
        st.caption(_("Print this page with the browser: only the card comes out."))
    said = _(
        "{params} parameters × 16 bytes = {memory}; 6 × {params} × {tokens} tokens = {flops}"
    ).format(
        params=chosen[0],
        tokens=chosen[1],
        memory=written(state.amount, state.unit),
        flops=written(flops.amount, flops.unit),
    )
    return Shown(headline=said, code=_CODE.format(params=params, tokens=tokens))


def ask_for_state() -> None:
    """Ask for the memory of the training state of a 7B model."""
    state = state_rule(PARAMS["7B"])
    part = {each.name: written(each.amount, each.unit) for each in state.children}
    predict_then_reveal(
        ASK.key("seven_billion"),
        _("How much memory does a 7B model take in training with AdamW, before activations?"),
        [
            Choice(part["weights"], _("Those are the bf16 weights alone: 2 bytes each.")),
            Choice(
                part["moments"], _("Those are AdamW's two fp32 moments: 4 bytes each, 8 together.")
            ),
            Choice(written(state.amount, state.unit)),
        ],
        _("2 for the weight, 2 for its gradient, 4 for its fp32 master copy, 8 for two moments."),
    )
