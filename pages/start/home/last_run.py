"""The run in progress or the last one, in one line with a link."""

from typing import Final

import streamlit as st

from core.language import N_, _
from core.train.run.directory import runs_directory
from core.train.run.shelf import RunSummary, newest_run, summarize
from pages.shared.navigation import page_row

STATES: Final = {
    "starting": N_("is starting"),
    "running": N_("is running"),
    "paused": N_("is paused"),
    "stopping": N_("is saving and stopping"),
    "stopped": N_("was stopped"),
    "finished": N_("has finished"),
    "failed": N_("has failed"),
    "crashed": N_("was interrupted"),
}
ALIVE: Final = ("starting", "running", "stopping")
_LOOK_AGAIN: Final = 2.0  # seconds


def show_last_run() -> None:
    """Show the newest run; while it moves, look again every two seconds."""
    run = _newest()
    is_alive = run is not None and run.state in ALIVE
    st.fragment(_line, run_every=_LOOK_AGAIN if is_alive else None)()


def _newest() -> RunSummary | None:
    folder = runs_directory()
    name = newest_run(folder)
    return summarize(folder / name) if name else None


def _line() -> None:
    run = _newest()
    if run is None:
        st.caption(_("No run yet on this server. The button starts the first one."))
        return
    text = _("Run {name} {state}: step {step} of {num_steps}.").format(
        name=f"**{run.title or run.name}**",
        state=_(STATES.get(run.state, run.state or "?")),
        step=f"{run.step:,}",
        num_steps=f"{run.num_steps:,}",
    )
    label = _("Watch it live") if run.state in ALIVE else _("Look at it")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(text)
        st.page_link(
            page_row("train/live_run").file,
            label=label,
            icon=":material/show_chart:",
            width="content",
        )
    st.progress(min(run.step / run.num_steps, 1.0) if run.num_steps else 0.0)
