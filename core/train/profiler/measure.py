"""What is profiled, a run or a fresh model, and the fresh process that measures it."""

import json
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from core.language import _
from core.train.child import child_answer
from core.train.config import PRECISIONS, TrainConfig, config_of_run
from core.train.control.device import device_holder
from core.train.learning.tensors import newest_checkpoint
from core.train.profiler.results import read_result
from core.train.run.directory import (
    checkpoint_step,
    is_run_name,
    open_run_directory,
    read_info,
    runs_directory,
    section,
)
from core.train.run.state import read_state
from core.train.start.plan import device_in_use
from core.train.start.presets import find_size

SIZES: Final = ("110k", "0.5M", "0.8M", "3.2M", "10.7M")
FRESH_PRECISIONS: Final = tuple(name for name in PRECISIONS if name != "auto")
SECONDS: Final = 600.0  # it may wait for its device first
HOLDER: Final = "step-profiler"


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """The name of a run, or a size with the precision and the optimizer of a fresh model."""

    run: str = ""
    size: str = SIZES[0]
    precision: str = "fp32"
    optimizer: str = "adamw"

    @property
    def directory(self) -> Path:
        """Return the directory of the run."""
        return open_run_directory(runs_directory(), self.run)

    @property
    def key(self) -> str:
        """Return what a result belongs to: it changes when the run has a newer checkpoint."""
        if not self.run:
            return f"{self.size} {self.precision} {self.optimizer}"
        path = newest_checkpoint(self.directory)
        return f"{self.run} {path.name} {path.stat().st_mtime_ns}"

    @property
    def step(self) -> int:
        """Return how many steps the run's newest checkpoint has behind it."""
        return checkpoint_step(newest_checkpoint(self.directory))

    def config(self) -> TrainConfig:
        """Return the config that is trained, its precision resolved as the run's worker does."""
        if self.run:
            return config_of_run(read_info(self.directory))
        fresh = {"name": self.size, "precision": self.precision, "optimizer": self.optimizer}
        return TrainConfig.from_json({**find_size(self.size), **fresh})

    def device(self) -> str:
        """Return the kind of device that it is measured on, as far as known without torch."""
        if not self.run:
            return device_in_use()[0]
        return str(section(read_info(self.directory), "resolved", self.directory)["device"])


def is_held_by_pause(subject: Subject) -> bool:
    """Say whether a paused run holds the device: it computes nothing, and its lock is no hindrance.

    Raises:
        ValueError: A run trains there; measured beside it, both would be told wrong.
    """
    holder = device_holder(kind := subject.device())
    if not is_run_name(holder):  # free, or another measurement's: its turn comes
        return False
    if read_state(runs_directory() / holder, time.time()).state == "paused":
        return True
    message = _(
        "The run {run} is training on this {device}: a step measured beside it would be slow for "
        "no reason of its own. Pause or stop it, then measure."
    )
    raise ValueError(message.format(run=holder, device=kind.upper()))


def measure(what: str, subject: Subject, num_steps: int = 3) -> Any:  # noqa: ANN401  by `what`
    """Return the "anatomy", "item", "compile", "operators" or "numbers" of a subject; in seconds.

    Raises:
        ValueError: It cannot be measured; the sentence says why.
    """
    is_held_by_pause(subject)
    late = _("The step was not measured within {seconds} s; choose a smaller model.")
    with tempfile.TemporaryDirectory() as folder:
        child_answer(
            "core.train.profiler",
            [json.dumps({**asdict(subject), "what": what, "num_steps": num_steps}), folder],
            seconds=SECONDS,
            too_late=late.format(seconds=f"{SECONDS:g}"),
            failed=_("The step was not measured: {reason}").format,
        )
        return read_result(what, Path(folder))
