"""The runs as things on a shelf: give one a title, pin it, take it away.

run.json never changes, so title and pin lie in a small file of their own beside it.
"""

import json
import shutil
import unicodedata
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from filelock import FileLock

from core.language import _
from core.train.disk import storage_error, to_json, write_atomically
from core.train.lock import worker_is_alive
from core.train.rundir import check_run_name
from core.train.state import read_state

LABEL_FILE: Final = "label.json"
MAX_TITLE: Final = 80
_DELETED: Final = ".deleted-"  # a folder of this name is no run: what a crash left of a deletion
_MAX_BYTES: Final = 4096
_MAX_WAIT_SECONDS: Final = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Label:
    """What a reader has written on a run.

    Attributes:
        title: Shown instead of the config's name; empty if none was given.
        pinned: Whether it must not be deleted by mistake.
    """

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
    """Protect the run from deletion, or lift the protection.

    Raises:
        ValueError: the directory is no run's.
        RunStorageError: the directory cannot be written to.
    """
    _write(directory, pinned=pinned)


def delete(directory: Path, *, force: bool = False) -> None:
    """Delete the run and all that is in it.

    The directory first takes a name that no run has, so nobody ever sees half a run; what a crash
    leaves of it is swept away by the next deletion.

    Args:
        directory: The run directory.
        force: Delete it even though it is pinned.

    Raises:
        ValueError: a worker trains it, it is pinned, or the directory is no run's.
        FileNotFoundError: there is no such run.
        RunStorageError: the system refuses.
    """
    _check(directory)
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
    _check(directory)
    try:
        # Two pages may write at once: neither may undo the other's change.
        with FileLock(directory / "label.lock", timeout=_MAX_WAIT_SECONDS):
            label = replace(read_label(directory), **changes)  # type: ignore[arg-type]
            write_atomically(directory / LABEL_FILE, to_json(asdict(label)))
    except OSError as error:
        raise storage_error(directory / LABEL_FILE, error) from error


def _check(directory: Path) -> None:
    check_run_name(directory.name)
    if directory.is_symlink() or not directory.is_dir():
        raise FileNotFoundError(
            _("There is no run {name} in {folder}; it may have been deleted.").format(
                name=directory.name, folder=directory.parent
            )
        )
