"""Where this computer keeps what outlives one run: measured speeds, probe results, locks."""

import os
import tempfile
from pathlib import Path
from typing import Final

import platformdirs

from core.language import _

APPLICATION: Final = "bits-to-gpt"
STATE_VARIABLE: Final = "B2G_STATE_DIR"


def state_directory() -> Path:
    """Return the user's state folder, made on demand and known to be writable.

    It is where the operating system keeps such things (`platformdirs`), or where the
    environment variable B2G_STATE_DIR points.

    Raises:
        ValueError: the folder cannot be made or written to.
    """
    named = os.environ.get(STATE_VARIABLE)
    directory = Path(named).expanduser() if named else platformdirs.user_state_path(APPLICATION)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return directory.resolve()
    except OSError as error:
        reason = error.strerror or str(error)
        raise ValueError(_unwritable(directory, reason)) from error


def _unwritable(directory: Path, reason: str) -> str:
    return _(
        "The state folder {directory} cannot be written to ({reason}). Give it write permission "
        "and free space, or set {variable} to a folder of yours."
    ).format(directory=directory, reason=reason, variable=STATE_VARIABLE)
