"""The button of Home that trains a GPT, and the newest run."""

from contextlib import suppress
from typing import Final

import streamlit as st

from core.language import N_, _
from core.machine import cached_probe, probe_machine
from core.train.run.directory import runs_directory
from core.train.run.disk import sentence_of
from core.train.run.shelf import RunSummary, newest_run, summarize
from core.train.start.launch import start_run
from core.train.start.plan import Prepared, Wish, plan_run, predict_run
from core.train.start.presets import find_duration
from core.train.start.timing import is_worth_timing, measure_timing
from core.units import format_exact, format_seconds
from pages.server.background import PoolFullError, jobs
from pages.server.control_right import check_teacher, is_teacher, who_controls
from pages.server.rate import take_turn
from pages.server.sandbox_line import make_way
from pages.shared import page_links, settings

WISH: Final = Wish(duration="one_minute")
# A second size makes the line on which every other config's speed is predicted.
LARGER: Final = Wish(duration="ten_minutes")
JOB: Final = "measure this machine"
_PAINTED: Final = "train_now_painted"
_LOOK_AGAIN: Final = 1.0  # seconds
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
_LOOK_AT_RUN: Final = 2.0  # seconds


def measure() -> None:
    """Probe this machine and time two presets' steps, each in a child process; takes seconds."""
    probe_machine()
    for wish in (WISH, LARGER):
        plan = plan_run(wish)
        if is_worth_timing(plan.timing):
            measure_timing(plan.config, plan.dataset.tokenizer.vocab_size)


def is_measured(plan: Prepared) -> bool:
    """Return whether the plan's seconds are those of this machine's best device."""
    return cached_probe() is not None and not is_worth_timing(plan.timing)


def show_train_now(plan: Prepared) -> None:
    """Show the button; while the machine is unknown, measure it and look again every second."""
    st.session_state[_PAINTED] = True
    run_every = None if is_measured(plan) else _LOOK_AGAIN
    st.fragment(_panel, run_every=run_every)(plan)


def _panel(plan: Prepared) -> None:
    if not is_measured(plan):
        _measure_after_first_paint()
    teaches = is_teacher()
    if st.button(
        _label(plan),
        key="home_train",
        type="primary",
        icon=":material/play_arrow:",
        width="stretch",
        disabled=settings.locked() or not teaches,
        help=None if teaches else who_controls(),
    ):
        _start(plan)
    st.caption(_sentence(plan))


def _measure_after_first_paint() -> None:
    """Start measuring with the first tick; show the seconds as soon as they are known."""
    is_tick = not st.session_state.pop(_PAINTED, False)
    if not is_tick:
        return
    if is_measured(plan_run(WISH)):
        st.rerun()
    if not jobs().error(JOB):
        with suppress(PoolFullError):  # look again with the next tick
            jobs().start(JOB, measure)


def _label(plan: Prepared) -> str:
    if plan.seconds is None:
        return _("Train a GPT now")
    return _("Train a GPT now: {seconds}").format(seconds=format_seconds(plan.seconds.amount))


def _sentence(plan: Prepared) -> str:
    if timing := plan.timing:
        return _(
            "{steps} steps of {step} on {device}: the model reads the manual of Python letter by "
            "letter and learns to write like it."
        ).format(
            steps=format_exact(plan.config.num_steps),
            step=format_seconds(timing.seconds_per_step),
            device=timing.device_name,
        )
    if reason := jobs().error(JOB):
        return _("This machine could not be measured: {reason}").format(reason=reason)
    return _("Measuring this machine…")


def _start(plan: Prepared) -> None:
    try:
        check_teacher()
        take_turn("start")
        with st.spinner(_("Starting the training process…")):
            make_way()
            now = predict_run(plan.config, plan.dataset)
            start_run(now, seconds=find_duration(WISH.duration).seconds)
    except (ValueError, RuntimeError, OSError) as error:
        st.error(sentence_of(error))
        return
    page_links.go_to("train/live_run", {})


def show_last_run() -> None:
    """Show the newest run; while it moves, look again every two seconds."""
    run = _newest()
    is_alive = run is not None and run.state in ALIVE
    st.fragment(_line, run_every=_LOOK_AT_RUN if is_alive else None)()


def _newest() -> RunSummary | None:
    folder = runs_directory()
    name = newest_run(folder)
    return summarize(folder / name) if name else None


def _line() -> None:
    run = _newest()
    if run is None:
        return
    known = _("Run {name} {state}: step {step} of {num_steps}.")
    text = (known if run.num_steps else _("Run {name} {state}: step {step}.")).format(
        name=f"**{run.title or run.name}**",
        state=_(STATES.get(run.state, run.state or "?")),
        step=f"{run.step:,}",
        num_steps=f"{run.num_steps:,}",
    )
    label = _("Watch it live") if run.state in ALIVE else _("Look at it")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(text)
        page_links.show_link("train/live_run", label, {}, icon=":material/show_chart:")
    if run.state in ALIVE:
        st.progress(min(run.step / run.num_steps, 1.0) if run.num_steps else 0.0)
