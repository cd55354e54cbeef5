"""Where runs lie and what a run directory may be called."""

import os
import re
import secrets
import time
from pathlib import Path
from typing import Final

from core.language import _

RUNS_VARIABLE: Final = "B2G_RUNS_DIR"
RUN_NAME: Final = re.compile(r"\d{8}t\d{6}z-[a-z0-9-]{1,40}-[0-9a-f]{4}", re.ASCII)

INFO_FILE: Final = "run.json"
METRICS_FILE: Final = "metrics.bin"
EVENTS_FILE: Final = "events.jsonl"
STATE_FILE: Final = "state.json"
LOCK_FILE: Final = "worker.lock"
LAUNCHED_FILE: Final = "launched.json"
CONTROL_FOLDER: Final = "control"


def runs_directory() -> Path:
    """Return where runs are kept: B2G_RUNS_DIR, else `runs` beside app.py; it may not exist."""
    named = os.environ.get(RUNS_VARIABLE)
    folder = Path(named).expanduser() if named else Path(__file__).parents[2] / "runs"
    return folder.resolve()


def new_run_name(title: str, created: float) -> str:
    """Return a fresh directory name: UTC time, a slug of the title, four random hex digits.

    Args:
        title: Any text; what is not a letter a-z or a digit becomes a hyphen.
        created: Unix time in seconds.

    >>> new_run_name("One minute!", 0.0)[:-4]
    '19700101t000000z-one-minute-'
    """
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-") or "run"
    return f"{time.strftime('%Y%m%dt%H%M%Sz', time.gmtime(created))}-{slug}-{secrets.token_hex(2)}"


def written_time(name: str) -> str:
    """Return when a run was made, in UTC, as its name tells.

    >>> written_time("20260102t030405z-one-minute-00ff")
    '2026-01-02 03:04:05'
    """
    return f"{name[:4]}-{name[4:6]}-{name[6:8]} {name[9:11]}:{name[11:13]}:{name[13:15]}"


def is_run_name(name: str) -> bool:
    """Say whether a directory of this name can be a run.

    >>> is_run_name("20260102t030405z-one-minute-00ff"), is_run_name("../secrets")
    (True, False)
    """
    return RUN_NAME.fullmatch(name) is not None


def check_run_name(name: str) -> None:
    """Accept a name that a run can have.

    Raises:
        ValueError: it is none; it may be an attempt to reach other folders.
    """
    if not is_run_name(name):
        shown = name if len(name) <= 80 else name[:79] + "…"
        raise ValueError(
            _(
                "{name!r} is not the name of a run. Names look like "
                "20260102t030405z-one-minute-00ff; copy one from the list of runs."
            ).format(name=shown)
        )


def open_run_directory(runs_dir: Path, name: str) -> Path:
    """Return the directory of the run called `name`, which came from outside and is not trusted.

    Raises:
        ValueError: the name is not one that a run can have.
        FileNotFoundError: no such run directly inside `runs_dir` (links do not count).
    """
    check_run_name(name)
    directory = runs_dir / name
    if directory.is_symlink() or not directory.is_dir():
        raise FileNotFoundError(
            _("There is no run {name} in {folder}; it may have been deleted or renamed.").format(
                name=name, folder=runs_dir
            )
        )
    return directory
