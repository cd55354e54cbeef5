"""A slider that writes the same setting as a field beside it, or as bits to click."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

import streamlit as st

from core.dtypes.cast.slider_values import centers, decades
from core.dtypes.exact import parse_value
from core.language import _
from pages.shared import settings
from pages.shared.inputs import Inputs, stand_at

T = TypeVar("T")
Numbers = Mapping[str, Fraction | float]  # as written -> itself


def slider_for(
    ask: Inputs,
    name: str,
    label: str,
    stops: Sequence[T],
    *,
    at: T,
    labels: Callable[[T], str] = str,
) -> None:
    """Show a slider; the stop that the reader drags it to is written to the setting `name`.

    Another input of the page shows that setting too; `at` is the stop that it stands at.
    """
    if settings.is_hidden(ask.page, name):
        return
    key = f"{ask.key(name)}_slider"
    start = stand_at(key, at, tuple(labels(stop) for stop in stops))

    def write() -> None:
        chosen = str(st.session_state[key])
        st.session_state[f"{key}_wrote"] = chosen
        ask.set(name, chosen)

    locked = settings.locked()
    st.select_slider(
        label, stops, key=key, format_func=labels, on_change=write, disabled=locked, **start
    )


def slider_through_decades(ask: Inputs, name: str, text: str) -> None:
    """Show a slider through small and large numbers; nothing, while the text is none."""
    try:
        parse_value(text)
    except ValueError:
        return
    slider_through_numbers(ask, name, decades(), text)


def slider_of_window(ask: Inputs, name: str, text: str, exponent: int) -> None:
    """Show a slider that moves a window of 2**exponent by parts of its width."""
    before = before_the_drag(ask, name, text, around=exponent)
    stops, _at = with_number(
        centers(parse_value(before), exponent), before.strip(), parse_value(before)
    )
    stops, at = with_number(stops, text.strip(), parse_value(text))
    slider_for(ask, name, _("Move the window"), list(stops), at=at)


def slider_through_numbers(ask: Inputs, name: str, stops: Numbers, text: str) -> None:
    """Show a slider through written numbers, this one and the one before the drag among them."""
    before = before_the_drag(ask, name, text)
    stops, _at = with_number(stops, before.strip(), parse_value(before))
    stops, at = with_number(stops, text.strip(), parse_value(text))
    slider_for(ask, name, _("Number"), list(stops), at=at)


def before_the_drag(ask: Inputs, name: str, text: str, *, around: object = None) -> str:
    """Return what a setting was before its slider moved it: its stops stay while it is dragged.

    They begin anew where `around`, on which the stops depend too, has changed.
    """
    key = f"{ask.key(name)}_slider"
    is_dragged = text == st.session_state.get(f"{key}_wrote")
    if not is_dragged or around != st.session_state.get(f"{key}_around"):
        st.session_state[f"{key}_before"] = text
        st.session_state[f"{key}_around"] = around
    return str(st.session_state.get(f"{key}_before", text))


def with_number(stops: Numbers, text: str, value: Fraction | float) -> tuple[Numbers, str]:
    same = next((stop for stop, exact in stops.items() if exact == value), None)
    if same is not None:
        return dict(stops), same
    # NaN is not below anything: it stands at the end.
    below = {stop: exact for stop, exact in stops.items() if not exact >= value}
    return {**below, text: value, **stops}, text
