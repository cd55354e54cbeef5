"""A memory snapshot of a run on a GPU: one step is recorded, to be kept or opened in Diagnose."""

from typing import Final

import streamlit as st

from core.budget.diagnosis.snapshot.answer import read_in_child
from core.language import _
from core.train.run.directory import SNAPSHOT_FILE
from core.train.run.disk import sentence_of
from core.train.run.state import FINAL_STATES
from core.units import format_bytes
from pages.server.control_right import may_control
from pages.server.snapshots import SENT, snapshots
from pages.shared.page_links import go_to
from pages.shared.settings import locked, unit_system
from pages.train.live_run.runs import send_command
from pages.train.live_run.shown_run import ShownRun

_LOOK_AGAIN: Final = 1.0
_ERROR: Final = "lr_snapshot_error"


def offer_snapshot(shown: ShownRun) -> None:
    """Offer what the allocator does in a step; a run on the CPU has no such allocator."""
    if (shown.run.info.get("resolved") or {}).get("device") != "cuda":
        return
    lives = shown.run.state not in FINAL_STATES
    with st.expander(_("Memory snapshot of a step"), key="lr_snapshot", icon=":material/memory:"):
        st.fragment(_snapshot, run_every=_LOOK_AGAIN if lives else None)(shown, lives=lives)


def _snapshot(shown: ShownRun, *, lives: bool) -> None:
    path, name = shown.run.directory / SNAPSHOT_FILE, shown.run.name
    can_record = lives and not locked() and may_control(name)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            _("Record the next step"), key="lr_snapshot_record", icon=":material/videocam:",
            on_click=_record, args=(name,), disabled=not can_record,
        )  # fmt: skip
        if not path.is_file():
            st.caption(_("Every block that torch's allocator gives out in it, with its stack."))
        else:
            size = format_bytes(path.stat().st_size, unit_system())
            st.download_button(_("Download ({size})").format(size=size), path.read_bytes, path.name)
            if st.button(
                _("Open in Diagnose"), key="lr_snapshot_open", icon=":material/troubleshoot:"
            ):
                st.session_state[SENT] = (snapshots().keep(*read_in_child(path)), path.name)
                go_to("plan/diagnose", {"diagnose_tab": "snapshot"})
    if error := st.session_state.pop(_ERROR, ""):
        st.error(error)


def _record(run: str) -> None:
    try:
        send_command(run, "snapshot", None)
    except (ValueError, OSError) as error:
        st.session_state[_ERROR] = sentence_of(error)
