"""A hand on a chart moves and zooms the window that it shows; Python hears where it came to rest.

While the hand moves, the part in the browser shifts and stretches what Plotly has drawn. Of a chart
without such a window it hears which stretch of the axis a drag has marked.
"""

import math
from collections.abc import Callable

import streamlit as st

from pages.components.part import browser_part

_mount = browser_part(__file__, html="<i hidden></i>")


def moving_window(
    chart: str,
    *,
    key: str,
    low: float,
    on_moved: Callable[[float, float], None] | None = None,
    on_marked: Callable[[float, float], None] | None = None,
) -> None:
    """Let the hand move the window of a chart, or mark a stretch of its axis, once a page.

    Args:
        chart: Key of the chart. Its x axis goes from -1/2 to 1/2 over the window, `minallowed` and
            `maxallowed` are the ends of what is drawn, and `meta` has `low` and `high`, the numbers
            at both ends of the window.
        key: The key of this part; "bound_..." takes no room.
        low: The number at the left end: what was done to another picture than this is not heard.
        on_moved: Called with how far the middle went to the right, in widths, and with the power of
            two by which the width changed, a whole number.
        on_marked: Called with both ends of the stretch, as places on the axis.
    """
    answered = f"{key}_answered"

    def heard() -> None:
        try:
            number, seen, first, second = map(float, str(st.session_state[key]["hand"]).split())
        except ValueError:
            return  # our script sends four numbers
        st.session_state[answered] = number
        act = on_moved or on_marked
        if act and seen == low and all(map(math.isfinite, (number, first, second))):
            act(first, second)

    data = [
        {"chart": chart, "answered": st.session_state.get(answered, 0), "moves": bool(on_moved)}
    ]
    _mount(key=key, data=data, height="content", on_hand_change=heard)
