"""The run that the page follows, the runs that there are already, and what a viewer may do."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

import streamlit as st

from core.language import _
from core.train.control.commands import send
from core.train.run.directory import open_run_directory, runs_directory
from core.train.run.reader import RunReader
from core.train.run.replay import MAX_SPEED, MIN_SPEED, read_speed
from core.train.start.launch import resume_run
from core.train.start.plan import Wish, wished_config
from core.train.start.sandbox import Ticket, caps_sentence
from pages.server.classroom import classroom
from pages.server.control_right import (
    ControlRefusedError,
    check_control,
    is_teacher,
    may_control,
    owns,
    signature,
    who_controls,
)
from pages.server.rate import take_turn
from pages.server.sandbox_line import (
    leave_line,
    line_up,
    make_way,
    note_stop,
    place,
    ticket,
    trains,
)
from pages.shared import link
from pages.shared.settings import is_hidden, locked
from pages.train.live_run.settings import ASK

_LOOK_AGAIN: Final = 2.0  # seconds
NO_RUN: Final = "none"  # in the address: what Train would begin, whatever runs there are
_FOLLOWED: Final = "lr_own_run_followed"
_REFUSED: Final = "lr_own_run_refused"


@dataclass(frozen=True, slots=True)
class Followed:
    """What the page shows: a run, "" for the newest, `NO_RUN`; at speed 0 live, else replayed."""

    run: str
    speed: float = 0.0


def followed_run() -> Followed:
    """Return what the address asks for; a replay speed that is none is refused by name."""
    run, written = st.query_params.get("run", ""), st.query_params.get("speed", "")
    speed = 0.0
    with suppress(ValueError):
        speed = read_speed(written) if run not in ("", NO_RUN) else 0.0
    used = f"{speed:g}" if speed else ""
    link.register("run", run)
    link.register("speed", used)
    if written and not speed:
        allowed = _("{low} to {high}").format(low=f"{MIN_SPEED:g}", high=f"{MAX_SPEED:g}")
        link.refuse("speed", written, allowed=allowed, used=used)
    return Followed(run, speed)


def follow(run: str = "", speed: float = 0.0) -> None:
    """Make the page follow a run, or replay it; without a name it follows the newest."""
    for name, value in {"run": run, "speed": f"{speed:g}" if speed else ""}.items():
        if value:
            st.query_params[name] = value
        else:
            st.query_params.pop(name, None)


def send_command(run: str, op: str, value: float | None) -> int:
    """Put a command of the browser into the run's inbox and return its number.

    "resume" to a run whose process has ended starts a new one and returns 0.
    """
    check_control(run)
    take_turn("command")
    directory = open_run_directory(runs_directory(), run)
    reader = RunReader(directory)
    if op == "resume" and reader.read_state().is_final:
        if not is_teacher():
            raise ControlRefusedError(
                _("A run of your own cannot be resumed; train a new one instead.")
            )
        make_way()
        resume_run(directory, by=signature())
        return 0
    number = send(directory, op, value, by=signature())
    if op == "stop":
        note_stop(run)
    return number


def controls_of(followed: Followed) -> Literal["enabled", "disabled", "hidden"]:
    """Return whether this browser may use the control bar; a replay has none."""
    if is_hidden(ASK.page, "controls") or followed.speed:
        return "hidden"
    return "disabled" if locked() or not may_control(followed.run) else "enabled"


def show_replay(followed: Followed) -> None:
    if followed.speed:
        with st.container(key="lr_replayed", horizontal=True, vertical_alignment="center"):
            text = _("A replay, {speed} times as fast as it was.")
            st.caption(text.format(speed=f"{followed.speed:g}"), width="content")
            label = _("Show the whole run")
            st.button(label, key="lr_replay_end", on_click=follow, args=(followed.run,))


def show_viewer(wish: Wish, run: str) -> None:
    """Tell a viewer who controls, and offer a run of one's own when the teacher allows it."""
    teaches, held = is_teacher(), ticket()
    # Who gave the PIN while waiting can still leave the line.
    if teaches and not (held and place(held)):
        return
    with st.container(key="lr_viewer", horizontal=True, vertical_alignment="center"):
        if owns(run):
            st.caption(_("This run is your own: you control it."), width="content")
        elif not teaches:
            st.caption(who_controls(), width="content")
        st.fragment(_sandbox, run_every=_LOOK_AGAIN)(wish)


def _sandbox(wish: Wish) -> None:
    """Show the button, or the place in the line; follow the run as soon as it has started."""
    held = ticket()
    _follow_own(held)
    with st.container(horizontal=True, vertical_alignment="center"):
        if held and held.stopped:
            _tell_stopped()
        if held and (number := place(held)):
            st.caption(_("Your run waits: number {number} in the line.").format(number=number))
            st.button(_("Leave the line"), key="lr_leave", on_click=leave_line, type="tertiary")
        elif classroom().sandbox_allowed and not is_hidden(ASK.page, "start") and not locked():
            _offer(wish, held)


def _follow_own(held: Ticket | None) -> None:
    known, run = st.session_state.get(_FOLLOWED), held.run if held else ""
    st.session_state[_FOLLOWED] = run
    if held is None or held.stopped or run in ("", known):
        return
    if known is not None or (trains(held) and not st.query_params.get("run")):
        follow(run)
        st.rerun()


def _tell_stopped() -> None:
    st.caption(
        _("Your run was stopped: the class goes first. What it has reached is kept under Runs."),
        width="content",
    )
    if st.button(_("To the class's run"), key="lr_to_class", type="tertiary"):
        leave_line()
        follow()
        st.rerun()  # the whole page: the button alone would bring this part only


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
