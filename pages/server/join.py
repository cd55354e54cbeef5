"""Joining a class, and holding control in it: two buttons of the frame."""

import html
from typing import Final

import streamlit as st

from core.language import _
from pages.server.classroom import class_address, classroom, in_class
from pages.server.control_right import (
    check_teacher,
    give_back,
    give_pin,
    holds_pin,
    is_teacher,
    who_controls,
)
from pages.server.qr import MAX_CHARS, qr_picture
from pages.server.teacher_pin import NUM_DIGITS

_COPIED: Final = "frame_copied_link"
_PIN: Final = "frame_pin"
_PIN_ERROR: Final = "frame_pin_error"
_SANDBOX: Final = "frame_sandbox"


def show() -> None:
    """Show the buttons where there is a class, or somebody who may not control."""
    if in_class():
        with st.popover(_("Join"), icon=":material/qr_code_2:", type="tertiary"):
            _invitation()
    if in_class() or not is_teacher():
        _control()


def remember_link(link: str) -> None:
    """Keep the link that was copied last, to show it as a QR code; only one of this class.

    Called when the link was copied, before the run that follows.
    """
    if link.startswith(f"{class_address()}/") and len(link) <= MAX_CHARS:
        st.session_state[_COPIED] = link
        st.rerun()  # the button stands on the page, the code in the frame round it


def _invitation() -> None:
    """Show the address of the class, and beside it the link that was copied last."""
    address = class_address()
    copied = st.session_state.get(_COPIED)
    codes = [_code(_("Open this in the same network:"), address, "join-address")]
    if isinstance(copied, str):
        codes.append(_code(_("The link copied last:"), copied, "join-link"))
    st.html(f'<div class="join">{"".join(codes)}</div>')


def _code(title: str, address: str, kind: str) -> str:
    alt = html.escape(_("QR code of {address}").format(address=address))
    picture = f'<img src="{html.escape(qr_picture(address))}" alt="{alt}">'
    words = f'<p>{html.escape(title)}</p><p class="{kind}">{html.escape(address)}</p>'
    return f"<section>{words}{picture}</section>"


def _control() -> None:
    teaches = is_teacher()
    label = _("Control") if teaches else _("Watching")
    icon = ":material/lock_open:" if teaches else ":material/lock:"
    with st.popover(label, icon=icon, type="tertiary"):
        if teaches:
            _teacher()
        else:
            _viewer()


def _teacher() -> None:
    held = holds_pin()
    st.markdown(
        _("You control the runs: this browser gave the PIN.")
        if held
        else _("You control the runs: this browser is on the server's own computer.")
    )
    st.caption(_("Browsers that gave the PIN: {count}").format(count=classroom().num_admitted))
    st.session_state[_SANDBOX] = classroom().sandbox_allowed
    st.toggle(_("Students may train small runs of their own"), key=_SANDBOX, on_change=_allow)
    if held:
        st.button(_("Give control back"), key="frame_give_back", on_click=give_back)


def _allow() -> None:
    check_teacher()
    classroom().sandbox_allowed = bool(st.session_state[_SANDBOX])


def _viewer() -> None:
    st.markdown(who_controls())
    with st.form("frame_pin_form", border=False):
        st.text_input(
            _("Teacher's PIN"), key=_PIN, type="password", max_chars=NUM_DIGITS, autocomplete="off"
        )
        st.form_submit_button(_("Take control"), on_click=_try_pin)
    if error := st.session_state.pop(_PIN_ERROR, ""):
        st.error(error)
    st.caption(
        _("This is for order in a classroom, not for secrets: a network can be listened to.")
    )


def _try_pin() -> None:
    given = str(st.session_state[_PIN])
    st.session_state[_PIN] = ""
    try:
        give_pin(given)
    except ValueError as error:
        st.session_state[_PIN_ERROR] = str(error)
