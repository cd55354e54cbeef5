"""One input of a page: shown, hidden or locked; a refused link value is named."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from pages.shared import link, settings
from pages.shared.accepts import Accepts

T = TypeVar("T")


def pick(
    page: str,
    name: str,
    accepted: Accepts[T],
    show: Callable[..., T],
    *,
    disabled: bool,
    kept: Callable[[T], object] | None = None,
) -> T:
    """Return the value of an input, which is shown unless a link hides it.

    Args:
        page: The page's short name, the first part of every setting's name: "lr".
        name: The setting's name on this page: "layers".
        accepted: What the address may say about it.
        show: Draws the control, given Streamlit's `key` and `disabled`.
        disabled: Whether the page itself disables the input now.
        kept: How the session keeps a value under this key; as it is, unless said otherwise.
    """
    key = f"{page}_{name}"
    raw = link.raw_value(key)
    asked = None if raw is None else accepted.read(raw)
    if asked is not None and asked == accepted.default:
        # Streamlit drops a default from the address and then keeps what the session had before:
        # a link that says "3" would open on 7. Only a link ever writes a default out.
        st.session_state[key] = asked if kept is None else kept(asked)
    visible = not settings.is_hidden(page, name)
    if visible:
        used = show(key=key, disabled=disabled or settings.locked())
    else:
        used = asked if asked is not None else _last_used(key, accepted)
    st.session_state[f"{key}_used"] = used
    written = accepted.write(used)
    default = accepted.write(accepted.default)
    link.register(key, written, default=default, visible=visible)
    if raw is not None and asked is None:
        link.refuse(key, raw, allowed=accepted.allowed(), used=written)
    return used


def _last_used(key: str, accepted: Accepts[T]) -> T:
    """Return what a hidden input was when it was last seen or set by a link."""
    used: T = st.session_state.get(f"{key}_used", accepted.default)
    return used
