"""Where this computer keeps what outlives one run: measured speeds, probe results, locks."""

import hashlib
import json
import os
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from filelock import FileLock

from core.language import _

APPLICATION: Final = "bits-to-gpt"
STATE_VARIABLE: Final = "B2G_STATE_DIR"
SECRET_BYTES: Final = 32


def state_directory() -> Path:
    """Return the user's state folder, made on demand and known to be writable.

    It is where the operating system keeps such things (`platformdirs`), or where the
    environment variable B2G_STATE_DIR points.

    Raises:
        ValueError: the folder cannot be made or written to.
    """
    named = os.environ.get(STATE_VARIABLE)
    directory = Path(named).expanduser() if named else _usual_directory()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return directory.resolve()
    except OSError as error:
        message = _(
            "The state folder {directory} cannot be written to ({reason}). Give it write "
            "permission and free space, or set {variable} to a folder of yours."
        )
        raise ValueError(
            message.format(
                # A class may read this: not where it lies.
                directory="/".join(directory.parts[-2:]),
                reason=error.strerror or type(error).__name__,
                variable=STATE_VARIABLE,
            )
        ) from error


def _usual_directory() -> Path:
    import platformdirs  # late: who names a folder does without it

    return platformdirs.user_state_path(APPLICATION)


def kept_file(name: str, facts: Sequence[object]) -> Path:
    """Return where an answer is kept that holds as long as these facts do.

    Raises:
        ValueError: the state folder cannot be written to.
    """
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
    return state_directory() / f"{name}-{key}.json"


def keep_json(target: Path, data: Mapping[str, Any]) -> None:
    """Write an answer to its file; a reader never sees half of it."""
    part = target.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(data), encoding="utf-8")
    part.replace(target)


def kept_secret(name: str) -> bytes:
    """Return random bytes that only this user can read; made at the first call, then kept.

    Raises:
        ValueError: the state folder cannot be written to.
        OSError: the file cannot be read or written.
    """
    target = state_directory() / name
    with FileLock(f"{target}.lock"):  # of two that begin at once, one makes it
        if target.is_file() and len(known := target.read_bytes()) == SECRET_BYTES:
            return known
        made = secrets.token_bytes(SECRET_BYTES)
        descriptor, part = tempfile.mkstemp(dir=target.parent)  # mode 0600 from its first byte
        with os.fdopen(descriptor, "wb") as file:
            file.write(made)
        Path(part).replace(target)
        return made
