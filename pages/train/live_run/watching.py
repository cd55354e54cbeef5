"""What a viewer sees where a teacher starts runs: who controls, and a run of one's own."""

from typing import Final, Literal

import streamlit as st

from core.language import _
from core.train.start.plan import Wish, wished_config
from core.train.start.sandbox import Ticket, caps_sentence
from pages.server.classroom import classroom
from pages.server.control_right import is_teacher, may_control, own_runs, who_controls
from pages.server.sandbox_line import leave_line, line_up, place, ticket
from pages.shared.settings import is_hidden, locked
from pages.train.live_run.runs import Followed, follow
from pages.train.live_run.settings import PAGE

_LOOK_AGAIN: Final = 2.0  # seconds
_FOLLOWED: Final = "lr_own_run_followed"
_REFUSED: Final = "lr_own_run_refused"


def controls_of(followed: Followed) -> Literal["enabled", "disabled", "hidden"]:
    """Return whether this session may use the control bar; a replay has none."""
    if is_hidden(PAGE, "controls") or followed.speed:
        return "hidden"
    return "disabled" if locked() or not may_control(followed.run) else "enabled"


def show_replay(followed: Followed) -> None:
    """Say that this is a replay, and offer to end it."""
    if followed.speed:
        with st.container(key="lr_replayed", horizontal=True, vertical_alignment="center"):
            text = _("A replay, {speed} times as fast as it was.")
            st.caption(text.format(speed=f"{followed.speed:g}"), width="content")
            label = _("Show the whole run")
            st.button(label, key="lr_replay_end", on_click=follow, args=(followed.run,))


def show_viewer(wish: Wish, run: str) -> None:
    """Tell a viewer who controls, and offer a run of one's own when the teacher allows it."""
    if not is_teacher():
        with st.container(key="lr_viewer", horizontal=True, vertical_alignment="center"):
            if run in own_runs():
                st.caption(_("This run is your own: you control it."), width="content")
            else:
                st.caption(who_controls(), width="content")
            st.fragment(_sandbox, run_every=_LOOK_AGAIN)(wish)


def _sandbox(wish: Wish) -> None:
    """Show the button, or the place in the line; follow the run as soon as it has started."""
    held = ticket()
    if held and held.run and st.session_state.get(_FOLLOWED) != held.run:
        st.session_state[_FOLLOWED] = held.run
        follow(held.run)
        st.rerun()
    if not classroom().sandbox_allowed or is_hidden(PAGE, "start") or locked():
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if held and place(held):
            _waiting(place(held))
        else:
            _offer(wish, held)


def _waiting(number: int) -> None:
    st.caption(_("Your run waits: number {number} in the line.").format(number=number))
    st.button(_("Leave the line"), key="lr_leave", on_click=leave_line, type="tertiary")


def _offer(wish: Wish, held: Ticket | None) -> None:
    st.button(
        _("Train my own"),
        key="lr_own",
        icon=":material/science:",
        help=caps_sentence(),
        on_click=_line_up,
        args=(wish,),
    )
    refusal = st.session_state.pop(_REFUSED, "") or (held.error if held else "")
    if refusal:
        st.caption(refusal)


def _line_up(wish: Wish) -> None:
    try:
        line_up(wished_config(wish))
    except ValueError as error:
        st.session_state[_REFUSED] = str(error)
