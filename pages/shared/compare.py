"""Compare with...: the present state is kept as A, and the page's inputs are B's from then on.

A lives in one setting of the address, `<page>_a`, as compact text: its inputs that are not at
their defaults. What is shown of both sides is the tab's (`pages.shared.beside`).
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import streamlit as st

from core.language import _
from pages.shared import link
from pages.shared.inputs import PLAN, Inputs
from pages.shared.settings import is_hidden, locked
from pages.shared.sides import Side, not_understood, read_as, read_side, write_side

SETTING: Final = "a"
MAX_CHARS: Final = 8000  # of a config.json with its marks written out
_NO_PART_OF_A: Final = frozenset({SETTING, "tab", "predict"})


def kept_text(inputs: Inputs) -> str:
    """Return A's text; "" while nothing is compared. It stands in an unseen, bound field."""
    key = inputs.key(SETTING)
    with st.container(key=f"bound_{key}"):
        return inputs.text(SETTING, key, max_chars=MAX_CHARS)


def offer(inputs: Inputs) -> None:
    """Show the button that keeps the present state as A."""
    if is_hidden(inputs.page, SETTING):
        return
    st.button(
        _("Compare with…"),
        key=inputs.key("compare"),
        icon=":material/compare_arrows:",
        help=link.book().beyond
        or _("Keeps this setting as A, also in the link; the inputs are B's from then on."),
        on_click=_keep,
        args=(inputs,),
        disabled=locked() or bool(link.book().beyond),
        width="stretch",
    )


def read_a(inputs: Inputs, text: str, choose: Callable[[], list[Any]]) -> list[Any]:
    """Show what ends the comparison and return what the page's inputs say for A's text.

    Raises:
        ValueError: If A cannot be.
    """
    st.caption(_("**A** is kept. The inputs below are **B**'s."))
    if not is_hidden(inputs.page, SETTING):
        _show_buttons(inputs, text)
    side = Side(name=inputs.key(SETTING), values=read_side(text))
    with read_as(side):
        chosen = choose()
    side.show_refusals()
    if why := not_understood(text):
        st.caption(why)
    return chosen


def left_out(why: ValueError) -> None:
    st.caption(_("Nothing is compared: {why}").format(why=why))


def _show_buttons(inputs: Inputs, text: str) -> None:
    with st.container(horizontal=True, gap="small"):
        st.button(
            _("Swap"),
            key=inputs.key("swap"),
            icon=":material/swap_horiz:",
            help=_("B becomes A, and the inputs become A's."),
            on_click=_swap,
            args=(inputs, text),
            disabled=locked(),
        )
        st.button(
            _("End"),
            key=inputs.key("end"),
            icon=":material/close:",
            help=_("Ends the comparison; the inputs stay as they are."),
            on_click=partial(inputs.set, SETTING, ""),
            disabled=locked(),
        )


def _state(inputs: Inputs) -> dict[str, link.Parameter]:
    """Return the settings of the last run that make a side, by the names of their inputs."""
    start = inputs.key("")
    found = {
        each.name.removeprefix(start): each
        for each in link.parameters()
        if each.name.startswith((start, f"{PLAN}_"))
    }
    no_part = {*_NO_PART_OF_A, *inputs.of_picture}
    return {name: each for name, each in found.items() if name not in no_part}


def _keep(inputs: Inputs) -> None:
    """Keep the present state as A: its inputs that are not at their defaults, and the model."""
    state = _state(inputs).items()
    changed = {
        name: each.value
        for name, each in state
        if each.value != each.default or name == f"{PLAN}_model"  # marks a text that knows the plan
    }
    inputs.set(SETTING, write_side(changed))


def _swap(inputs: Inputs, text: str) -> None:
    """Exchange the sides; a locked page stays as it is, whatever a browser sends."""
    if locked():
        return
    values, holds = read_side(text), link.book().holds
    _keep(inputs)
    for name, each in _state(inputs).items():
        st.session_state[each.name] = holds[each.name](values.get(name, each.default))
