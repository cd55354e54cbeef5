"""Files that nobody ever sees half written: appended whole, or replaced at once."""

import errno
import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from filelock import Timeout

from core.language import _

# Windows would turn every \n into \r\n without it; elsewhere it does not exist.
_BINARY: Final = getattr(os, "O_BINARY", 0)
# Windows refuses to replace a file while a reader has it open, which takes microseconds.
_READERS_BLOCK_REPLACING: Final = os.name == "nt"
_NUM_TRIES: Final = 20


class RunStorageError(OSError):
    """A run directory cannot be written to; the message names the path and the reason."""

    def __str__(self) -> str:
        """Return the sentence without the number that OSError puts before it."""
        return str(self.strerror)


def storage_error(path: Path, error: OSError) -> RunStorageError:
    """Return the sentence for a write that the disk refused."""
    return RunStorageError(
        error.errno,
        _(
            "Cannot write {path} ({reason}). Free some space or give the folder write "
            "permission; what was written before is kept."
        ).format(path=told(path), reason=error.strerror or sentence_of(error)),
    )


def told(path: Path) -> str:
    """Return a file of a run as a sentence names it that a whole class may read.

    >>> told(Path("runs/brave-otter/run.json"))
    'brave-otter/run.json'
    """
    return f"{path.parent.name}/{path.name}"


def sentence_of(error: BaseException) -> str:
    """Return what an error says, for a whole class: of a file its name, not where it lies.

    >>> sentence_of(FileNotFoundError(2, "No such file", "/srv/brave-otter/run.json"))
    'brave-otter/run.json: No such file'
    """
    if isinstance(error, Timeout):
        return _("{path}: another process holds it").format(path=told(Path(error.lock_file)))
    if isinstance(error, OSError) and error.filename is not None:
        return f"{told(Path(str(error.filename)))}: {error.strerror}"
    return str(error)


def to_json(value: object) -> str:
    """Return `value` as one line of strict JSON: numbers that are not finite become null.

    >>> to_json({"loss": float("nan"), "text": "长"})
    '{"loss":null,"text":"长"}'
    """
    return json.dumps(
        finite(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str
    )


def finite(value: object) -> object:
    """Return `value` with every float that is not finite replaced by None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    return value


def write_atomically(path: Path, content: str | bytes, *, durable: bool = True) -> None:
    """Replace `path` by `content` so that a reader sees the old file or the new one, never a part.

    A durable one survives a power cut too.

    Raises:
        RunStorageError: the disk is full or the folder may not be written to.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        _replace(temporary, path)
        if durable:
            sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise storage_error(path, error) from error


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut; Windows has no such call and needs none."""
    if os.name == "nt":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _replace(temporary: Path, path: Path) -> None:
    for tries_left in reversed(range(_NUM_TRIES)):
        try:
            temporary.replace(path)
        except PermissionError:
            if not tries_left or not _READERS_BLOCK_REPLACING:
                raise
            time.sleep(0.01)
        else:
            return


class AppendFile:
    """A file that only grows, by whole parts: a part that does not fit is taken back."""

    def __init__(self, path: Path, num_sound_bytes: Callable[[bytes], int]) -> None:
        """Open or create `path` and cut off what a killed writer left half way.

        `num_sound_bytes`: told the whole content, returns how much of it to keep.
        """
        self.path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY, 0o644)
        except OSError as error:
            raise storage_error(path, error) from error
        try:
            self.num_bytes = num_sound_bytes(path.read_bytes())
            os.ftruncate(self._file, self.num_bytes)
        except BaseException:
            os.close(self._file)
            raise
        self._torn = False

    def append(self, part: bytes | bytearray) -> None:
        """Add `part` with one system call; if it does not fit, the file is as it was before."""
        try:
            if self._torn:
                self._take_back()
            if os.write(self._file, part) != len(part):
                self._torn = True
                self._take_back()
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301
        except OSError as error:
            raise storage_error(self.path, error) from error
        self.num_bytes += len(part)

    def _take_back(self) -> None:
        os.ftruncate(self._file, self.num_bytes)
        self._torn = False

    def sync(self) -> None:
        """Wait until the disk holds everything appended so far."""
        try:
            os.fsync(self._file)
        except OSError as error:
            raise storage_error(self.path, error) from error

    def close(self) -> None:
        """Close the file; closing twice is allowed."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
