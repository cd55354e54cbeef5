"""The runs, to look at again: compare, replay, rename, pin, delete, take the numbers away."""

from typing import Final

import streamlit as st

from core.language import _
from core.train.run.directory import open_run_directory, runs_directory
from core.train.run.disk import sentence_of
from core.train.run.replay import MAX_SPEED, MIN_SPEED
from core.train.run.shelf import MAX_TITLE, RunSummary, delete, list_runs, pin, rename
from core.train.run.state import FINAL_STATES
from pages.server.control_right import check_control, may_control
from pages.server.rate import take_turn
from pages.train.live_run.compare import MAX_BESIDE
from pages.train.live_run.fork import offer_exports, offer_fork
from pages.train.live_run.runs import follow
from pages.train.live_run.settings import ASK
from pages.train.live_run.shown_run import link_to_model, run_label

SPEEDS: Final = tuple(speed for speed in (1, 2, 5, 10, 30, 60) if MIN_SPEED <= speed <= MAX_SPEED)
NUM_SHOWN: Final = 12
_CHOSEN: Final = "lr_chosen"
_ERROR: Final = "lr_manage_error"


def offer_runs() -> None:
    """Show the button that opens the runs in a window of their own."""
    tells = _("Open a run; compare, replay, rename, pin or delete runs")
    if st.button(_("Runs"), key="lr_manage", icon=":material/history:", help=tells):
        st.dialog(_("Runs"), width="large")(_manage)()


def _manage() -> None:
    every = list_runs(runs_directory())
    runs = {run.name: run for run in every if not run.error}
    if not every:
        st.caption(_("There are no runs yet."))
        return
    _offer("", "lr_newest", _("Always the newest"), ":material/update:")
    for run in every[:NUM_SHOWN]:
        if run.error:
            st.caption(run.error)
        else:
            _offer(run.name, f"lr_open_{run.name}", run_label(run), ":material/show_chart:")
    if hidden := len(every[NUM_SHOWN:]):
        st.caption(_("{count} older runs are kept in the runs directory.").format(count=hidden))
    if runs:
        _choose(runs)


def _offer(name: str, key: str, label: str, icon: str) -> None:
    if st.button(label, key=key, type="tertiary", icon=icon, on_click=follow, args=(name,)):
        st.rerun()


def _choose(runs: dict[str, RunSummary]) -> None:
    shown = st.query_params.get("run", "")
    first = [shown] if shown in runs else list(runs)[:1]
    st.session_state[_CHOSEN] = [n for n in st.session_state.get(_CHOSEN, first) if n in runs]
    chosen = st.multiselect(
        _("Runs: one to edit, several to compare"),
        list(runs),
        format_func=lambda name: run_label(runs[name]),
        max_selections=1 + MAX_BESIDE,
        key=_CHOSEN,
    )
    if error := st.session_state.pop(_ERROR, ""):
        st.error(error)
    if len(chosen) == 1:
        _one(runs[chosen[0]])
    elif chosen and st.button(
        _("Show them in one picture"), key="lr_together", on_click=_together, args=(chosen,)
    ):
        st.rerun()


def _together(runs: list[str]) -> None:
    follow(runs[0])
    ASK.set("beside", ",".join(runs[1:]))


def _one(run: RunSummary) -> None:
    """Show what can be done with one run; what changes it needs control over it."""
    if run.state in FINAL_STATES:
        _replay(run)
    st.link_button(
        _("All steps as CSV"), f"/live/metrics.csv?run={run.name}", icon=":material/table:"
    )
    offer_exports(run)
    link_to_model(run)
    offer_fork(run)
    locked = not may_control(run.name)
    title, pinned, away = st.columns([3, 1, 1], vertical_alignment="bottom")
    key = f"lr_title_{run.name}"
    title.text_input(
        _("Title"),
        run.title,
        key=key,
        max_chars=MAX_TITLE,
        disabled=locked,
        on_change=_edit,
        args=(run.name, "title", key),
    )
    key = f"lr_pin_{run.name}"
    st.session_state[key] = run.pinned
    pinned.toggle(
        _("Pinned"), key=key, disabled=locked, on_change=_edit, args=(run.name, "pin", key)
    )
    with away.popover(_("Delete"), icon=":material/delete:", disabled=locked or run.pinned):
        st.markdown(_("The run, its curve and its checkpoints are gone for good."))
        st.button(
            _("Delete it"),
            key=f"lr_delete_{run.name}",
            type="primary",
            on_click=_edit,
            args=(run.name, "delete", key),
        )


def _replay(run: RunSummary) -> None:
    speed, button = st.columns([3, 1], vertical_alignment="bottom")
    chosen = speed.select_slider(
        _("Speed"), SPEEDS, value=10, format_func="× {}".format, key="lr_replay_speed"
    )
    if button.button(_("Replay"), key="lr_replay", icon=":material/replay:"):
        follow(run.name, chosen)
        st.rerun()


def _edit(name: str, what: str, key: str) -> None:
    """Carry out one change; Python asks who may, whatever the browser has greyed."""
    try:
        check_control(name)
        take_turn("edit")
        directory = open_run_directory(runs_directory(), name)
        if what == "title":
            rename(directory, str(st.session_state[key]))
        elif what == "pin":
            pin(directory, pinned=bool(st.session_state[key]))
        else:
            delete(directory)
            if st.query_params.get("run") == name:
                follow()
    except (ValueError, OSError) as error:
        st.session_state[_ERROR] = sentence_of(error)
