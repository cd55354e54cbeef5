"""The recorded runs that come with the app: real runs, each packed as one file.

Written by `python -m benchmarks.record_run`; unpacked once a process into a folder of its
own, where every reader of runs reads them.
"""

import atexit
import io
import re
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from core.language import _
from core.train.run.directory import check_run_name

RECORDED: Final = Path(__file__).parents[1] / "recordings"
SHORTEST: Final = "one_minute"  # stands in where a preset takes too long to be recorded
_PRESET: Final = re.compile(r"[a-z_]{1,40}", re.ASCII)
_OLDEST_DATE: Final = (1980, 1, 1, 0, 0, 0)  # so that the same run makes the same file


def check_preset(preset: str) -> None:
    """Accept a name that a preset can have; it came from outside.

    Raises:
        ValueError: it is none; it may be an attempt to reach other files.
    """
    if not _PRESET.fullmatch(preset):
        message = _("{name!r} is not the name of a preset; one is called {known}.")
        raise ValueError(message.format(name=preset[:80], known=SHORTEST))


def recorded_path(preset: str, folder: Path = RECORDED) -> Path:
    """Return where the recorded run of a preset lies, whether there is one or not."""
    return folder / f"{preset}.zip"


def recorded_preset(preset: str, folder: Path = RECORDED) -> str:
    """Return the preset whose recorded run is shown for one: its own, else the shortest."""
    return preset if recorded_path(preset, folder).is_file() else SHORTEST


def pack(name: str, files: Mapping[str, bytes]) -> bytes:
    """Return the files of a run as one."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file, data in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{name}/{file}", _OLDEST_DATE)
            archive.writestr(entry, data, zipfile.ZIP_LZMA)
    return packed.getvalue()


def unpack(path: Path, folder: Path) -> Path:
    """Unpack a recorded run into a folder and return its run directory.

    Raises:
        ValueError: If the file holds anything but one run.
        OSError: If it cannot be read, or the folder not be written to.
    """
    with zipfile.ZipFile(path) as archive:
        names = {entry.partition("/")[0] for entry in archive.namelist()}
        if len(names) != 1:
            raise ValueError(f"{path.name} holds {len(names)} runs, not one; record it again")
        (name,) = names
        check_run_name(name)
        archive.extractall(folder)
    return folder / name


def recorded_run(preset: str) -> Path:
    """Return the run directory of the recorded run shown for a preset; it is not to be changed."""
    return _unpacked(recorded_preset(preset))


@cache
def _unpacked(preset: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="bits-to-gpt-recorded-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return unpack(recorded_path(preset), folder)
