"""A student's own run: small, short, marked as such, and never in the way of the class."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from core.language import _
from core.train.config import TrainConfig
from core.train.device_lock import refuse_if_busy
from core.train.launch import create_run, spawn_worker, timing_for
from core.train.listing import list_runs
from core.train.plan import device_in_use
from core.train.prepare import prepare
from core.train.presets import fit_steps
from core.train.rundir import runs_directory
from core.train.shelf import delete
from core.train.state import FINAL_STATES
from core.units import format_count, format_seconds

MAX_STEPS: Final = 1000
MAX_PARAMETERS: Final = 1_000_000
MAX_SECONDS: Final = 60.0
MAX_BATCH_TOKENS: Final = 16_384  # tokens of one step: its memory stays small
NUM_KEPT: Final = 20


def check_sandbox(config: TrainConfig) -> None:
    """Accept a config that a student may run without asking.

    Raises:
        ValueError: If the model or its batch is too large, or the text is not one of the app's.
    """
    if config.corpus == "upload":
        raise ValueError(_("A run of your own learns from a text of this app, not from a file."))
    num_parameters = prepare(config).parameters.amount
    if num_parameters > MAX_PARAMETERS:
        raise ValueError(
            _("A run of your own may have {limit} parameters; this one has {count}.").format(
                limit=format_count(MAX_PARAMETERS), count=format_count(num_parameters)
            )
        )
    if config.tokens_per_step > MAX_BATCH_TOKENS:
        raise ValueError(
            _("A run of your own may take {limit} tokens a step; this one takes {count}.").format(
                limit=f"{MAX_BATCH_TOKENS:,}", count=f"{config.tokens_per_step:,}"
            )
        )


def capped(config: TrainConfig, seconds_per_step: float) -> TrainConfig:
    """Return the config with no more steps than a student's run may take, and at full speed."""
    free = replace(config, max_steps_per_second=None)
    fitting = fit_steps(free, MAX_SECONDS, seconds_per_step)
    return free if free.num_steps <= min(MAX_STEPS, fitting.num_steps) else _shortened(fitting)


def _shortened(fitting: TrainConfig) -> TrainConfig:
    return replace(fitting, num_steps=min(fitting.num_steps, MAX_STEPS))


def caps_sentence() -> str:
    """Return what a student's run may take."""
    return _(
        "A run of your own: at most {parameters} parameters, {steps} steps and {seconds}. One at a "
        "time trains on this server, and the class's run goes first."
    ).format(
        parameters=format_count(MAX_PARAMETERS),
        steps=f"{MAX_STEPS:,}",
        seconds=format_seconds(MAX_SECONDS),
    )


def start_sandbox_run(config: TrainConfig, runs_dir: Path | None = None) -> Path:
    """Make a student's run and start its worker; return the run directory.

    Raises:
        DeviceBusyError: If another run trains on the device, or waits for it.
        ValueError: If the config is not one for the sandbox.
        TimingError: If the device cannot be timed.
        RunStorageError: If the directory cannot be written to.
    """
    check_sandbox(config)
    refuse_if_busy(device_in_use()[0])  # before timing, which would disturb the run of the class
    prepared = prepare(config)
    timing = timing_for(prepared)
    refuse_if_busy(timing.device)
    short = capped(config, timing.seconds_per_step)
    folder = runs_dir or runs_directory()
    directory = create_run(replace(prepared, config=short), timing, folder, sandbox=True)
    spawn_worker(directory)
    return directory


def sweep_sandbox(runs_dir: Path | None = None, num_kept: int = NUM_KEPT) -> None:
    """Keep the newest `num_kept` of the students' runs, the pinned and the unfinished ones."""
    runs = [run for run in list_runs(runs_dir or runs_directory()) if run.info.get("sandbox")]
    for run in runs[num_kept:]:
        if run.state in FINAL_STATES and not run.pinned:
            with suppress(ValueError, OSError):  # somebody else was quicker, or pinned it meanwhile
                delete(run.directory)
