"""The inputs of a page: each lives in the address, and a teacher's link can hide or lock it.

`slider("lr", "layers", ...)` is the setting `lr_layers` of the address and of `st.session_state`.

A choice is written into the address as `str(option)`, never as the translated label, so that a link
means the same in every language: a text field that nobody sees is bound to the address (key
`lr_size`), and the visible control beside it has the key `lr_size_choice`. To set a choice from a
callback, write `st.session_state["lr_size"] = str(option)`.
"""
# ruff: noqa: PLR0913  an input has a place, a name, a label, a range, a default and a help text

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import streamlit as st

from pages.shared import accepts
from pages.shared.inputs import Inputs, pick

T = TypeVar("T")
N = TypeVar("N", int, float)


def slider(
    page: str,
    name: str,
    label: str,
    low: N,
    high: N,
    *,
    default: N,
    step: N,
    number_format: str | None = None,
    help: str | None = None,  # noqa: A002  Streamlit's own name
    disabled: bool = False,
) -> N:
    """Show a slider and return its number."""
    show = partial(
        st.slider,
        label,
        low,
        high,
        default,
        step,
        number_format,
        help=help,
        bind="query-params",
        persist_state="session",
    )
    accepted = accepts.number_between(low, high, default)
    return pick(page, name, accepted, show, disabled=disabled)


def number(
    page: str,
    name: str,
    label: str,
    low: N,
    high: N,
    *,
    default: N,
    step: N,
    number_format: str | None = None,
    help: str | None = None,  # noqa: A002  Streamlit's own name
    disabled: bool = False,
) -> N:
    """Show a field for a number, with buttons that step it, and return the number."""
    show = partial(
        st.number_input,
        label,
        low,
        high,
        default,
        step,
        number_format,
        help=help,
        bind="query-params",
        persist_state="session",
    )
    accepted = accepts.number_between(low, high, default)
    return pick(page, name, accepted, show, disabled=disabled)


def toggle(
    page: str,
    name: str,
    label: str,
    *,
    default: bool,
    help: str | None = None,  # noqa: A002  Streamlit's own name
    disabled: bool = False,
) -> bool:
    """Show an on/off switch and return whether it is on."""
    show = partial(
        st.toggle, label, default, help=help, bind="query-params", persist_state="session"
    )
    return pick(page, name, accepts.true_or_false(default), show, disabled=disabled)


def text(
    page: str,
    name: str,
    label: str,
    *,
    default: str = "",
    max_chars: int = 200,
    help: str | None = None,  # noqa: A002  Streamlit's own name
    disabled: bool = False,
) -> str:
    """Show a line of text and return it."""
    show = partial(
        st.text_input,
        label,
        default,
        max_chars=max_chars,
        help=help,
        bind="query-params",
        persist_state="session",
    )
    return pick(page, name, accepts.text_up_to(max_chars, default), show, disabled=disabled)


def select_slider(
    page: str,
    name: str,
    label: str,
    options: Sequence[T],
    *,
    default: T,
    labels: Callable[[T], str] = str,
    help: str | None = None,  # noqa: A002  Streamlit's own name
    disabled: bool = False,
) -> T:
    """Show a slider over `options`; `labels` turns an option into the words shown."""
    draw = partial(st.select_slider, label, options, format_func=labels, help=help)
    return Inputs(page).choose(name, accepts.one_of(options, default), draw, disabled=disabled)


def segmented(
    page: str,
    name: str,
    label: str,
    options: Sequence[T],
    *,
    default: T,
    labels: Callable[[T], str] = str,
    help: str | None = None,  # noqa: A002  Streamlit's own name
    disabled: bool = False,
) -> T:
    """Show `options` side by side, for up to five of them."""
    draw = partial(
        st.segmented_control, label, options, format_func=labels, help=help, required=True
    )
    return Inputs(page).choose(name, accepts.one_of(options, default), draw, disabled=disabled)


def selectbox(
    page: str,
    name: str,
    label: str,
    options: Sequence[T],
    *,
    default: T,
    labels: Callable[[T], str] = str,
    help: str | None = None,  # noqa: A002  Streamlit's own name
    disabled: bool = False,
) -> T:
    """Show `options` in a list that opens, for more than five of them."""
    draw = partial(st.selectbox, label, options, format_func=labels, help=help)
    return Inputs(page).choose(name, accepts.one_of(options, default), draw, disabled=disabled)
