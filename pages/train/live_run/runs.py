"""The runs that there are already, to open one of them."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.language import _
from core.train.control.commands import send
from core.train.control.device import refuse_if_busy
from core.train.run.directory import open_run_directory, runs_directory, written_time
from core.train.run.reader import RunReader
from core.train.run.replay import MAX_SPEED, MIN_SPEED, check_speed
from core.train.run.shelf import RunSummary, list_runs
from core.train.start.launch import resume_run
from pages.components.live_chart.words import STATES
from pages.server.control_right import (
    ControlRefusedError,
    check_control,
    is_teacher,
    signature,
)
from pages.server.rate import take_turn
from pages.server.sandbox_line import make_way
from pages.shared import link

NUM_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class Followed:
    """What the page shows: a run, "" for the newest; at speed 0 live, else replayed."""

    run: str
    speed: float = 0.0


def followed_run() -> Followed:
    """Return what the address asks for; a replay speed that is none is refused by name."""
    run, written = st.query_params.get("run", ""), st.query_params.get("speed", "")
    speed = _speed(written) if run and written else 0.0
    used = f"{speed:g}" if speed else ""
    link.register("run", run)
    link.register("speed", used)
    if written and not speed:
        allowed = _("{low} to {high}").format(low=f"{MIN_SPEED:g}", high=f"{MAX_SPEED:g}")
        link.refuse("speed", written, allowed=allowed, used=used)
    return Followed(run, speed)


def _speed(written: str) -> float:
    try:
        speed = float(written)
        check_speed(speed)
    except ValueError:
        return 0.0
    return speed


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

    Raises:
        ValueError: If there is no such run, the command is none, or the device is taken.
        ControlRefusedError: If this session may only watch the run.
        TooOftenError: If it has sent too many commands.
        FileNotFoundError: If the run is gone.
        RunStorageError: If the run directory cannot be written to.
    """
    check_control(run)
    take_turn("command")
    directory = open_run_directory(runs_directory(), run)
    reader = RunReader(directory)
    if op == "resume" and reader.read_state().is_final:
        if not is_teacher():
            raise ControlRefusedError(_("A run of your own ends here; train a new one instead."))
        make_way()
        refuse_if_busy(reader.info["resolved"]["device"])
        resume_run(directory, by=signature())
        return 0
    return send(directory, op, value, by=signature())


def list_earlier_runs() -> None:
    """Show the newest runs, a button each; a damaged one says what is wrong with it."""
    runs = list_runs(runs_directory())
    if not runs:
        st.caption(_("There are no runs yet."))
        return
    st.button(_("The newest run, always"), key="lr_newest", on_click=follow, type="tertiary")
    for run in runs[:NUM_SHOWN]:
        if run.error:
            st.caption(run.error)
        else:
            label = run_label(run)
            st.button(label, key=f"lr_open_{run.name}", on_click=follow, args=(run.name,))
    hidden = len(runs[NUM_SHOWN:])
    if hidden:
        st.caption(_("{count} older runs are kept in the runs directory.").format(count=hidden))


def run_label(run: RunSummary) -> str:
    """Return one line on a run: title, time it was made (UTC), state and step."""
    made = written_time(run.name)
    state = _(STATES.get(run.state, run.state))
    return f"{run.title} · {made} UTC · {state} · {run.step:,} / {run.num_steps:,}"
