"""A run directory as files: where it lies, how it is called, its description, its checkpoints."""

import json
import os
import re
import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, Final

from core.language import _
from core.train.run.disk import to_json, told, write_atomically
from core.train.run.fields import damaged_section, is_number

RUNS_VARIABLE: Final = "B2G_RUNS_DIR"
RUN_NAME: Final = re.compile(r"\d{8}t\d{6}z-[a-z0-9-]{1,40}-[0-9a-f]{4}", re.ASCII)

INFO_FILE: Final = "run.json"
METRICS_FILE: Final = "metrics.bin"
EVENTS_FILE: Final = "events.jsonl"
STATE_FILE: Final = "state.json"
PARENT_FILE: Final = "parent.pt"  # of a fork: the checkpoint that it begins with
LOCK_FILE: Final = "worker.lock"
LAUNCHED_FILE: Final = "launched.json"
CONTROL_FOLDER: Final = "control"
CHECKPOINTS_FOLDER: Final = "ckpt"
MILESTONES_FOLDER: Final = "milestones"
BEST_FILE: Final = "best.json"
SNAPSHOT_FILE: Final = "memory-snapshot.pickle"  # of one step on a GPU

FORMAT_VERSION: Final = 1
CHECKPOINT_FORMAT: Final = 1
NUM_CHECKPOINTS_KEPT: Final = 2
_MAX_BYTES: Final = 4 * 1024**2  # of run.json
_LATEST_TIME: Final = 1e11  # the year 5138, in seconds
_CHECKPOINT_NAME = re.compile(r"step-(\d{8})\.pt")


def runs_directory() -> Path:
    """Return where runs are kept: B2G_RUNS_DIR, else `runs` beside app.py; it may not exist."""
    named = os.environ.get(RUNS_VARIABLE)
    folder = Path(named).expanduser() if named else Path(__file__).parents[3] / "runs"
    return folder.resolve()


def new_run_name(title: str, created: float) -> str:
    """Return a fresh directory name: UTC time, a slug of the title, four random hex digits.

    >>> new_run_name("One minute!", 0.0)[:-4]
    '19700101t000000z-one-minute-'
    """
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-") or "run"
    return f"{time.strftime('%Y%m%dt%H%M%Sz', time.gmtime(created))}-{slug}-{secrets.token_hex(2)}"


def written_time(name: str, zone: tzinfo = UTC) -> str:
    """Return when a run was made, as its name tells: names are in UTC, readers in their own zone.

    >>> written_time("20260102t030405z-one-minute-00ff")
    '2026-01-02 03:04:05'
    """
    made = datetime.strptime(name[:16], "%Y%m%dt%H%M%Sz").replace(tzinfo=UTC)
    return made.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S")


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
            _("There is no run {name} here; it may have been deleted or renamed.").format(name=name)
        )
    return directory


class DamagedRunError(ValueError):
    """A directory that is no run, or no longer one that can be read."""


def write_info(directory: Path, info: Mapping[str, Any]) -> None:
    """Write run.json, once; `format_version` is added."""
    text = to_json({"format_version": FORMAT_VERSION, **info})
    write_atomically(directory / INFO_FILE, text)


def read_info(directory: Path) -> dict[str, Any]:
    """Return run.json.

    Raises:
        DamagedRunError: it is missing, unreadable, not a run's, or of a newer format.
    """
    path = directory / INFO_FILE
    try:
        with path.open("rb") as file:
            info = json.loads(file.read(_MAX_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or _("it is not JSON")
        raise DamagedRunError(
            _(
                "{path} cannot be read ({reason}); the folder is not a run or is damaged. "
                "Delete it, or put its {file} back."
            ).format(path=told(path), reason=reason, file=INFO_FILE)
        ) from error
    _check(info, path)
    return dict(info)


def _check(info: Any, path: Path) -> None:  # noqa: ANN401  whatever JSON the file holds
    version = info.get("format_version") if isinstance(info, dict) else None
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise DamagedRunError(
            _(
                "{path} has format {version}, written by a newer version of this app, which "
                "reads formats up to {known}. Update the app."
            ).format(path=told(path), version=version, known=FORMAT_VERSION)
        )
    sound = (
        isinstance(info, dict)
        and version == FORMAT_VERSION
        and isinstance(info.get("config"), dict)
        and is_number(info.get("created"))
        and 0 <= info["created"] <= _LATEST_TIME
    )
    if not sound:
        message = _(
            "{path} does not describe a run of this app; leave this folder out of the runs."
        )
        raise DamagedRunError(message.format(path=told(path)))
    if part := damaged_section(info):
        raise DamagedRunError(_damage(path, part))


def section(info: Mapping[str, Any], name: str, directory: Path) -> dict[str, Any]:
    """Return a section of run.json."""
    if not isinstance(part := info.get(name), dict):
        raise DamagedRunError(_damage(directory / INFO_FILE, name))
    return part


def _damage(path: Path, part: str) -> str:
    message = _("The section {part!r} of {path} is damaged: restore the file, or delete the run.")
    return message.format(path=told(path), part=part)


def checkpoint_path(directory: Path, step: int) -> Path:
    """Return where the checkpoint of a step belongs."""
    return directory / CHECKPOINTS_FOLDER / f"step-{step:08d}.pt"


def checkpoint_step(path: Path) -> int:
    """Return the step of a checkpoint, as its name tells.

    >>> checkpoint_step(checkpoint_path(Path("run"), 250))
    250
    """
    return int(path.stem.removeprefix("step-"))


def checkpoints(directory: Path) -> list[Path]:
    """Return the finished checkpoints of a run, oldest first."""
    return _steps_in(directory / CHECKPOINTS_FOLDER)


def milestone_path(directory: Path, step: int) -> Path:
    """Return where the weights of a step belong that a reader may look back at."""
    return directory / MILESTONES_FOLDER / f"step-{step:08d}.pt"


def milestones(directory: Path) -> list[Path]:
    """Return the finished milestones of a run, oldest first; runs of older versions have none."""
    return _steps_in(directory / MILESTONES_FOLDER)


def forget_milestones(directory: Path, after: int) -> None:
    """Delete the milestones of steps that a resumed run has yet to do again."""
    for path in milestones(directory):
        if checkpoint_step(path) > after:
            path.unlink(missing_ok=True)


def _steps_in(folder: Path) -> list[Path]:
    found = folder.iterdir() if folder.is_dir() else iter(())
    return sorted(path for path in found if _CHECKPOINT_NAME.fullmatch(path.name))


def best_checkpoint(directory: Path) -> tuple[Path, float] | None:
    """Return the checkpoint with the lowest validation loss, and that loss in nats per token."""
    folder = directory / CHECKPOINTS_FOLDER
    try:
        best = json.loads((folder / BEST_FILE).read_text(encoding="utf-8"))
        name, loss = str(best["file"]), float(best["validation_loss"])
    except (OSError, ValueError, TypeError, KeyError):
        return None  # none yet, or damaged: the next evaluation makes a new one
    path = folder / name
    return (path, loss) if _CHECKPOINT_NAME.fullmatch(name) and path.is_file() else None


def keep_checkpoint(directory: Path, newest: Path, validation_loss: float | None) -> None:
    """Note whether `newest` is the best so far, and delete all but the best and the newest two.

    Raises:
        RunStorageError: the note cannot be written; nothing is deleted then.
    """
    best = best_checkpoint(directory)
    if validation_loss is not None and (best is None or validation_loss < best[1]):
        note = {"file": newest.name, "validation_loss": validation_loss}
        write_atomically(newest.with_name(BEST_FILE), to_json(note))
        best = (newest, validation_loss)
    spared = {best[0]} if best else set()
    for old in checkpoints(directory)[:-NUM_CHECKPOINTS_KEPT]:
        if old not in spared:
            old.unlink(missing_ok=True)
