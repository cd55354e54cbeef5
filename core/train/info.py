"""The unchanging description of a run: run.json."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from core.language import _
from core.train.disk import to_json, told, write_atomically
from core.train.rundir import INFO_FILE

FORMAT_VERSION: Final = 1
_MAX_BYTES: Final = 4 * 1024**2
_LATEST_TIME: Final = 1e11  # the year 5138, in seconds


class DamagedRunError(ValueError):
    """A directory that is no run, or no longer one that can be read."""


def write_info(directory: Path, info: Mapping[str, Any]) -> None:
    """Write run.json, once; `format_version` is added.

    Raises:
        RunStorageError: the disk refuses.
    """
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


def _check(info: object, path: Path) -> None:
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
        and isinstance(info.get("created"), int | float)
        and 0 <= info["created"] <= _LATEST_TIME
    )
    if not sound:
        message = _(
            "{path} does not describe a run of this app; leave this folder out of the runs."
        )
        raise DamagedRunError(message.format(path=told(path)))
