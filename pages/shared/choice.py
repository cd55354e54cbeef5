"""A choice with translated labels whose word in the address is the same in every language."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import streamlit as st

from pages.shared.accepts import Accepts
from pages.shared.pick import pick

T = TypeVar("T")
_MAX_WORD: Final = 200


def choose(
    page: str, name: str, accepted: Accepts[T], draw: Callable[..., Any], *, disabled: bool
) -> T:
    """Return the chosen option.

    Streamlit writes the *label* of a choice into the address. So an unseen text field is bound to
    the address and holds the option's word; `draw` shows the control, which has the key
    `<page>_<name>_choice` and follows the field.
    """

    def show(*, key: str, disabled: bool) -> T:
        chosen = accepted.read(_word(key, accepted))
        seen = f"{key}_choice"
        st.session_state[seen] = accepted.default if chosen is None else chosen
        option: T = draw(key=seen, disabled=disabled, on_change=_write_word, args=(key, accepted))
        return option

    return pick(page, name, accepted, show, disabled=disabled, kept=accepted.write)


def _word(key: str, accepted: Accepts[T]) -> str:
    """Show the unseen text field and return the word that it holds."""
    with st.container(key=f"bound_{key}"):
        return st.text_input(
            key,
            accepted.write(accepted.default),
            key=key,
            max_chars=_MAX_WORD,
            label_visibility="collapsed",
            bind="query-params",
            persist_state="session",
        )


def _write_word(key: str, accepted: Accepts[Any]) -> None:
    """Bring a click on the visible control to the text field that the address is bound to."""
    st.session_state[key] = accepted.write(st.session_state[f"{key}_choice"])
