"""Predict, then reveal: the answer is not on the page before the reader commits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.language import _
from pages.shared.accepts import true_or_false
from pages.shared.inputs import Inputs, pick

_WAITS: Final = "frame_answer_waits"


@dataclass(frozen=True, slots=True)
class Choice:
    """A possible answer; `why_wrong` is said to the reader who chose it, None for the right one."""

    text: str
    why_wrong: str | None = None


def begin_run() -> None:
    st.session_state[_WAITS] = False


def answer_waits() -> bool:
    """Return whether a question is open in this run that the reader has not answered yet."""
    return bool(st.session_state.get(_WAITS, False))


def ask_on_demand(inputs: Inputs, ask: Callable[[], None]) -> None:
    """Ask when the reader opens the question, or a link does: "<page>_predict=true"."""

    def show(*, key: str, disabled: bool) -> bool:
        del disabled  # on a locked page, too, a question may be answered
        place = st.expander(
            _("Predict, then reveal"), key=key, icon=":material/psychology_alt:",
            on_change="rerun", bind="query-params",
        )  # fmt: skip
        if place.open:
            with place:
                ask()
        return bool(place.open)

    pick(inputs.page, "predict", true_or_false(default=False), show)


def predict_then_reveal(
    key: str, question: str, choices: Sequence[Choice], explanation: str, *, reveal: str = ""
) -> bool:
    """Ask a question and return whether the reader has committed to an answer.

    `explanation` says why the right answer is right; `reveal` stands on the button that commits, if
    it does more than reveal.

    Raises:
        ValueError: If not exactly one choice is right.
    """
    right = [choice.text for choice in choices if choice.why_wrong is None]
    if len(right) != 1:
        raise ValueError(f"question {key}: exactly one choice must be right, not {len(right)}")
    committed = f"{key}_committed"
    with st.container(key=f"{key}_question"):
        st.markdown(question)
        chosen = _ask(key, choices, reveal, asked=committed not in st.session_state)
        if committed not in st.session_state:
            st.session_state[_WAITS] = True
            return False
        _reveal(choices[chosen or 0], right[0], explanation)
    return True


def _ask(key: str, choices: Sequence[Choice], reveal: str, *, asked: bool) -> int | None:
    """Show the answers and, while the reader has not committed, the button that commits."""
    chosen = st.radio(
        _("Your prediction"),
        range(len(choices)),
        index=None,
        format_func=lambda number: choices[number].text,
        key=key,
        label_visibility="collapsed",
        disabled=not asked,
        persist_state="session",
    )
    if asked:
        st.button(
            reveal or _("Reveal"),
            key=f"{key}_reveal",
            disabled=chosen is None,
            on_click=st.session_state.__setitem__,
            args=(f"{key}_committed", True),
        )
    return chosen


def _reveal(chosen: Choice, right: str, explanation: str) -> None:
    if chosen.why_wrong is None:
        st.markdown(_("Right: **{answer}**.").format(answer=right))
    else:
        st.markdown(chosen.why_wrong)
        st.markdown(_("The answer is **{answer}**.").format(answer=right))
    st.markdown(explanation)
