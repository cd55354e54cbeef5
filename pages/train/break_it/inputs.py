"""What Break it asks for: a mistake, a seed, and a prediction of what the loss will do."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.language import _
from core.train.mistakes.pair import recorded_pairs
from core.train.mistakes.switches import NUM_SEEDS, OUTCOMES, SWITCHES, Switch
from pages.shared.inputs import Inputs
from pages.shared.questions import Choice, predict_then_reveal

ASK: Final = Inputs("break")


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A mistake and a seed; `is_open` once its run may be shown, `committed` by a prediction."""

    switch: Switch
    seed: int
    is_open: bool
    committed: bool


def choose_case() -> Case:
    """Show the inputs and the question, and return what they say."""
    titles = {key: each.title for key, each in SWITCHES.items()}
    switch = SWITCHES[ASK.selectbox("switch", _("Mistake"), titles, default=next(iter(titles)))]
    with st.popover(_("Settings"), icon=":material/tune:", key=ASK.key("settings")):
        seed = ASK.number(
            "seed", _("Seed"), 0, NUM_SEEDS - 1, default=recorded_pairs().seed, step=1,
            help=_("Both runs begin with the same weights and read the same text in the same "
                   "order."))  # fmt: skip
        shown = ASK.toggle("shown", _("Show it without a prediction"), default=False)
    committed = not shown and _predict(switch)
    return Case(switch=switch, seed=seed, is_open=shown or committed, committed=committed)


def first_time(case: Case) -> bool:
    """Return whether this is the first look at a prediction; from then on it is not."""
    key = ASK.key(f"ran_{case.switch.key}")
    was, st.session_state[key] = bool(st.session_state.get(key, False)), True
    return not was


def _predict(switch: Switch) -> bool:
    """Ask what the loss will do; return whether the reader has committed to an answer."""
    outcomes = [switch.outcome, *switch.others]
    turn = list(SWITCHES).index(switch.key) % len(outcomes)  # the right one moves about
    choices = [
        Choice(_(OUTCOMES[each]), _(switch.others[each]) if each in switch.others else None)
        for each in (*outcomes[turn:], *outcomes[:turn])
    ]
    asked = _("**{title}.** What does the training loss do?").format(title=_(switch.title))
    why = _("Why, and the line that mends it, stand below the curves.")
    key, reveal = ASK.key(f"answer_{switch.key}"), _("Predict and run")
    return predict_then_reveal(key, asked, choices, why, reveal=reveal)
