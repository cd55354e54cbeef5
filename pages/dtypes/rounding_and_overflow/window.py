"""The window of the number line: where it begins, its sliders, and the hand on the picture."""

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import streamlit as st

from core.dtypes import Format
from core.dtypes.cast.explain_cast import explain_cast
from core.dtypes.exact import parse_value, to_float
from core.figures.dtypes.rounding_and_overflow.line_window import (
    NARROWEST,
    WIDEST,
    Window,
    moved_window,
    width_words,
    window_around,
    window_of,
)
from core.language import _
from pages.components.moving_window.moving_window import moving_window
from pages.shared import accepts, link, settings
from pages.shared.dtypes.number_slider import before_the_drag, slider_for, slider_of_window
from pages.shared.inputs import Inputs

DEFAULT_CENTER: Final = "1"
_DEFAULT_WIDTH: Final = -3
_WIDTHS_BESIDE: Final = 40  # on its slider, to either side of where it stands


@dataclass(frozen=True, slots=True)
class FreePart:
    """A part of the number line that the reader moves and zooms, 2**exponent wide."""

    center: Fraction | float
    exponent: int


def begin_at_number(ask: Inputs, text: str, fmt: Format) -> None:
    """Let a window that nobody has moved yet begin around the number, with its neighbours."""
    if not (_is_new(ask, "center", DEFAULT_CENTER) and _is_new(ask, "width", str(_DEFAULT_WIDTH))):
        return
    with suppress(ValueError):
        trace = explain_cast(fmt, parse_value(text))
        if math.isfinite(to_float(trace.value)):
            near = window_of("near", [fmt], trace)
            _set(ask, *window_around(near.low, near.high))


def _is_new(ask: Inputs, name: str, default: str) -> bool:
    """Whether neither a link nor the reader nor a hand on the picture has said anything else."""
    key = ask.key(name)
    held = ask.used(name, default), st.session_state.get(key, default)
    return link.raw_value(key) is None and held == (default, default)


def _set(ask: Inputs, center: str, exponent: int) -> None:
    ask.set("center", center)
    ask.set("width", str(exponent))


def choose_window(ask: Inputs, center: str) -> FreePart:
    """Show the sliders that move and zoom the window; `center` is the number in its middle."""
    move = st.container()
    exponent = _choose_width(ask)
    middle = parse_value(center)
    with move:
        slider_of_window(ask, "center", center, exponent)
    return FreePart(middle, exponent)


def _choose_width(ask: Inputs) -> int:
    numbers = accepts.number_between(NARROWEST, WIDEST, _DEFAULT_WIDTH)
    accepted = replace(numbers, is_number=False)  # the word of an unseen field, as of a choice

    def show(*, key: str, **_widget: object) -> int:
        at = int(st.session_state[key])
        before = int(before_the_drag(ask, "width", str(at)))
        low, high = min(before, at) - _WIDTHS_BESIDE, max(before, at) + _WIDTHS_BESIDE
        stops = range(max(low, NARROWEST), min(high, WIDEST) + 1)
        slider_for(ask, "width", _("Width of the window"), stops, at=at, labels=width_words)
        return at

    return ask.choose("width", accepted, show)


def follow_the_hand(ask: Inputs, window: Window) -> str:
    """Let a drag or the wheel on the picture of a window choose another; return how, in words.

    Of another part of the line a drag opens what it marks as a window. Where its inputs are locked
    or hidden the picture stands still: no words.
    """
    if settings.locked() or any(
        settings.is_hidden(ask.page, name) for name in ("view", "center", "width")
    ):
        return ""

    def moved(shift: float, levels: float) -> None:
        center, exponent = moved_window(window, shift, levels)
        ask.set("width", str(exponent))
        if shift:  # else the middle stays as it was written
            ask.set("center", center)

    def marked(start: float, end: float) -> None:
        ends = (window.number_at(place) for place in (start, end))
        ask.set("view", "free")
        _set(ask, *window_around(*ends))

    chart = "window" if window.is_free else "chart"
    moving_window(
        f"{ask.page}_line_{chart}",
        key=f"bound_{ask.page}_hand",
        low=window.low,
        on_moved=moved if window.is_free else None,
        on_marked=marked,
    )
    if window.is_free:
        return _("Drag to move, wheel or pinch to zoom; the sliders do the same.")
    return _("Drag across a part of the picture: it opens as a window to move and zoom.")
