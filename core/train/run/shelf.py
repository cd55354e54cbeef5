"""The runs as things on a shelf: which there are; give one a title, pin it, take it away.

run.json never changes, so title and pin lie in a small file of their own beside it.
"""

import json
import os
import shutil
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from filelock import FileLock

from core.language import _
from core.train.run.directory import is_run_name, open_run_directory
from core.train.run.disk import storage_error, to_json, write_atomically
from core.train.run.reader import check_run
from core.train.run.state import read_state, worker_is_alive

LABEL_FILE: Final = "label.json"
MAX_TITLE: Final = 80
_DELETED: Final = ".deleted-"  # a folder of this name is no run: what a crash left of a deletion
_MAX_BYTES: Final = 4096
_MAX_WAIT_SECONDS: Final = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSummary:
    """One run as a list shows it; without a state it has an error, the sentence why."""

    name: str
    directory: Path
    title: str = ""
    pinned: bool = False
    created: float = 0.0
    state: str = ""
    step: int = 0
    num_steps: int = 0
    gpu_name: str = ""
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
            folders = [each.name for each in entries if each.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(filter(is_run_name, folders), reverse=True)


def summarize(directory: Path) -> RunSummary:
    """Return one run's line in the list."""
    try:
        info = check_run(directory)
    except ValueError as error:
        pinned = read_label(directory).pinned
        return RunSummary(name=directory.name, directory=directory, pinned=pinned, error=str(error))
    state, label = read_state(directory, float(info["created"])), read_label(directory)
    config, num_steps = info["config"], info["config"].get("num_steps")
    return RunSummary(
        name=directory.name,
        directory=directory,
        title=label.title or str(config.get("name", "")),
        pinned=label.pinned,
        created=float(info["created"]),
        state=state.state,
        step=state.step,
        num_steps=num_steps if isinstance(num_steps, int) else 0,
        gpu_name=state.gpu_name,
        info=info,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Label:
    """What a reader has written on a run."""

    title: str = ""
    pinned: bool = False


def read_label(directory: Path) -> Label:
    """Return the run's label; an unreadable one counts as none."""
    try:
        with (directory / LABEL_FILE).open("rb") as file:
            data = json.loads(file.read(_MAX_BYTES))
        return Label(title=clean_title(data["title"]), pinned=data["pinned"] is True)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return Label()


def rename(directory: Path, title: str) -> None:
    """Give the run a title; its directory and its address keep their names.

    Raises:
        ValueError: the title is empty, too long, or the directory is no run's.
        RunStorageError: the directory cannot be written to.
    """
    clean = clean_title(title)
    if not clean:
        raise ValueError(_("A title needs at least one visible character; write a few words."))
    if len(clean) > MAX_TITLE:
        raise ValueError(
            _("The title has {count} characters; {limit} are allowed. Shorten it.").format(
                count=len(clean), limit=MAX_TITLE
            )
        )
    _write(directory, title=clean)


def pin(directory: Path, *, pinned: bool = True) -> None:
    """Protect the run from deletion, or lift the protection."""
    _write(directory, pinned=pinned)


def delete(directory: Path, *, force: bool = False) -> None:
    """Delete the run and all that is in it; a pinned one only by force.

    The directory first takes a name that no run has, so nobody ever sees half a run; what a crash
    leaves of it is swept away by the next deletion.

    Raises:
        ValueError: a worker trains it, it is pinned, or the directory is no run's.
        FileNotFoundError: there is no such run.
        RunStorageError: the system refuses.
    """
    open_run_directory(directory.parent, directory.name)
    if not read_state(directory).is_final or worker_is_alive(directory):
        message = _("The run {name} is still being trained; stop it, then delete it.")
        raise ValueError(message.format(name=directory.name))
    if read_label(directory).pinned and not force:
        message = _("The run {name} is pinned; unpin it, or delete it with --force.")
        raise ValueError(message.format(name=directory.name))
    try:
        directory.rename(directory.with_name(_DELETED + directory.name))
    except OSError as error:
        raise storage_error(directory, error) from error
    for left in directory.parent.glob(f"{_DELETED}*"):
        shutil.rmtree(left, ignore_errors=True)


def clean_title(title: str) -> str:
    r"""Return a title on one line, without characters that cannot be seen.

    >>> clean_title("  half the\n rate\u202e ")
    'half the rate'
    """
    visible = "".join(c if unicodedata.category(c)[0] not in "CZ" else " " for c in title)
    return " ".join(visible.split())


def _write(directory: Path, **changes: str | bool) -> None:
    open_run_directory(directory.parent, directory.name)
    try:
        # Two pages may write at once: neither may undo the other's change.
        with FileLock(directory / "label.lock", timeout=_MAX_WAIT_SECONDS):
            label = replace(read_label(directory), **changes)  # type: ignore[arg-type]
            write_atomically(directory / LABEL_FILE, to_json(asdict(label)))
    except OSError as error:
        raise storage_error(directory / LABEL_FILE, error) from error
