"""Predict, then reveal: the answer is not on the page before the reader commits."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from core.language import _


@dataclass(frozen=True, slots=True)
class Choice:
    """A possible answer; `why_wrong` is said to the reader who chose it, None for the right one."""

    text: str
    why_wrong: str | None = None


def predict_then_reveal(
    key: str, question: str, choices: Sequence[Choice], explanation: str
) -> bool:
    """Ask a question and return whether the reader has committed to an answer.

    Args:
        key: The page's short name and a name: "lr_first_loss".
        question: Translated question.
        choices: Translated answers, exactly one of them right.
        explanation: Translated; why the right answer is right.

    Raises:
        ValueError: If not exactly one choice is right.
    """
    right = [choice.text for choice in choices if choice.why_wrong is None]
    if len(right) != 1:
        raise ValueError(f"question {key}: exactly one choice must be right, not {len(right)}")
    committed = f"{key}_committed"
    with st.container(border=True, key=f"{key}_question"):
        predict = _("Predict")
        st.markdown(f"**{predict}** · {question}")
        chosen = _ask(key, choices, asked=committed not in st.session_state)
        if committed not in st.session_state:
            return False
        _reveal(choices[chosen or 0], right[0], explanation)
    return True


def _ask(key: str, choices: Sequence[Choice], *, asked: bool) -> int | None:
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
            _("Reveal"),
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
