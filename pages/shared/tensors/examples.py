"""A menu of examples: the one that is chosen is written into the inputs of the page."""

from collections.abc import Callable, Mapping

import streamlit as st

from core.language import _
from pages.shared.inputs import Inputs
from pages.shared.settings import locked


def offer_examples(
    ask: Inputs,
    name: str,
    titles: Mapping[str, str],
    settings: Callable[[str], Mapping[str, object]],
) -> None:
    """Show the menu; `settings` returns what an example writes: name of an input -> its value."""
    key = ask.key(f"{name}_menu")

    def write() -> None:
        for setting, value in settings(str(st.session_state[key])).items():
            ask.set(setting, value)

    st.menu_button(
        _("Examples"),
        list(titles),
        format_func=lambda word: titles[word],
        key=key,
        disabled=locked(),
        on_click=write,
    )
