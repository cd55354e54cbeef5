"""What is there to learn here, and what can I do already?"""

from pathlib import Path

import streamlit as st

from core.budget.by_hand.rules import state_rule
from core.language import _, ngettext
from pages.shared import pickers
from pages.shared.header import headline, page_header
from pages.shared.numbers import written
from pages.shared.prose import prose
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.snippets import show_code
from pages.shared.start.course_map import show_lessons, show_ticks
from pages.start.lessons.lesson_filter import filtered_lessons
from pages.start.lessons.self_check import check_group, load_self_check
from pages.start.lessons.take_away import PARAMS, picked_rules, rules_headline, show_rules

PRINT_CSS = Path(__file__).with_name("print.css")
CODE = """
from core.budget.by_hand.rules import flops_rule, state_rule
from core.units import format_bytes, format_flops

print(format_bytes(state_rule(7 * 10**9).amount))
print(format_flops(flops_rule(70 * 10**9, 15 * 10**12).amount))
"""


def tab_label(tab: str) -> str:
    """Return the word on the switch of a tab."""
    return {"list": _("Lessons"), "check": _("Self-check"), "card": _("Take-away card")}[tab]


def show_list() -> None:
    """Show the lessons that pass the filters, with ticks."""
    found = filtered_lessons("lessons")
    headline(ngettext("{count} lesson", "{count} lessons", len(found)).format(count=len(found)))
    if found:
        show_lessons(found, key="lessons_list", detailed=True)
    else:
        st.caption(_("No lesson passes all three filters; set one of them back to “all”."))


def show_check() -> None:
    """Show the eight things to be able to do."""
    count = len(load_self_check())
    headline(_("{count} things to be able to do").format(count=count))
    show_ticks([check_group()], key="lessons_check", suggest=False)


def show_take_away() -> None:
    """Show the card: three sentences to remember and two rules with numbers."""
    st.html(PRINT_CSS)
    state, flops = picked_rules("lessons")
    headline(rules_headline("lessons", state, flops))
    with st.container(border=True, key="lessons_take_away"):
        numbers, words = st.columns([2, 3], gap="large")
        with numbers:
            show_rules(state, flops)
        with words:
            prose(__file__, "take_away")
    with st.container(key="print_hint"):
        st.caption(_("Print this page with the browser: only the card comes out."))


def ask() -> None:
    """Ask for the memory of the training state of a 7B model."""
    state = state_rule(PARAMS["7B"])
    part = {each.name: written(each.amount, each.unit) for each in state.children}
    predict_then_reveal(
        "lessons_seven_billion",
        _("How much memory do 7 B parameters take in training with AdamW, before activations?"),
        [
            Choice(part["weights"], _("Those are the bf16 weights alone: 2 bytes each.")),
            Choice(part["moments"], _("Those are AdamW's two fp32 moments: 8 bytes each.")),
            Choice(written(state.amount, state.unit)),
        ],
        _("2 for the weight, 2 for its gradient, 4 for its fp32 master copy, 8 for two moments."),
    )


page_header(__doc__)
tab = pickers.segmented(
    "lessons", "tab", _("Show"), ["list", "check", "card"], default="list", labels=tab_label
)
{"list": show_list, "check": show_check, "card": show_take_away}[tab]()
question, code = st.columns(2)
with question:
    ask()
with code:
    show_code("rules", CODE)
