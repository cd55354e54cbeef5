"""Which runs there are, newest first, and what each is doing."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.train.reader import check_run
from core.train.rundir import is_run_name
from core.train.shelf import read_label
from core.train.state import read_state


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSummary:
    """One run as a list shows it.

    Attributes:
        name: The directory's name.
        directory: Where it lies.
        title: What its reader called it, else the name in its config.
        pinned: Whether it must not be deleted by mistake.
        created: Unix time it was made, in seconds.
        state: One of core.train.state.STATES; empty when it cannot be read.
        step: Optimizer steps completed.
        num_steps: Optimizer steps planned.
        info: All of run.json.
        error: Why the run cannot be shown, as a sentence; empty when it can.
    """

    name: str
    directory: Path
    title: str = ""
    pinned: bool = False
    created: float = 0.0
    state: str = ""
    step: int = 0
    num_steps: int = 0
    info: Mapping[str, Any] = field(default_factory=dict, repr=False)
    error: str = ""


def list_runs(directory: Path) -> tuple[RunSummary, ...]:
    """Return the runs in `directory`, newest first; a damaged one carries its `error`.

    Whatever does not bear a run's name is not looked at. A missing directory holds no runs.
    """
    runs = [summarize(directory / name) for name in run_names(directory)]
    return tuple(sorted(runs, key=lambda run: (run.name[:16], run.created), reverse=True))


def newest_run(directory: Path) -> str | None:
    """Return the name of the newest run that can be read; reads as few of them as it can.

    A student's own run, made in the sandbox, is never the one that all others follow.
    """
    best: tuple[float, str] | None = None
    for name in run_names(directory):
        # Names begin with their second: only runs of the same second need their exact time.
        if best and name[:16] < best[1][:16]:
            break
        try:
            info = check_run(directory / name)
        except ValueError:
            continue
        if info.get("sandbox"):
            continue
        created = float(info["created"])
        best = max(best or (created, name), (created, name))
    return best[1] if best else None


def run_names(directory: Path) -> list[str]:
    """Return the names of the run directories in `directory`, newest first; links do not count."""
    try:
        with os.scandir(directory) as entries:
            names = [e.name for e in entries if is_run_name(e.name) and _is_folder(e)]
    except OSError:
        return []
    return sorted(names, reverse=True)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def summarize(directory: Path) -> RunSummary:
    """Return one run's line in the list."""
    try:
        info = check_run(directory)
    except ValueError as error:
        pinned = read_label(directory).pinned
        return RunSummary(name=directory.name, directory=directory, pinned=pinned, error=str(error))
    state, label = read_state(directory, float(info["created"])), read_label(directory)
    config = info["config"]
    num_steps = config.get("num_steps")
    return RunSummary(
        name=directory.name,
        directory=directory,
        title=label.title or str(config.get("name", "")),
        pinned=label.pinned,
        created=float(info["created"]),
        state=state.state,
        step=state.step,
        num_steps=num_steps if isinstance(num_steps, int) else 0,
        info=info,
    )
