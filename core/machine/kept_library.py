"""What torch does here: asked in a child process, no torch imported."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Final

from filelock import FileLock

from core.dtypes.libraries.library_records import LibraryReport, report_from_json
from core.machine.child import lines_of
from core.machine.machine import describe_machine
from core.machine.state import keep_json, kept_file, state_directory

LIBRARY_SECONDS: Final = 180
FORMAT_VERSION: Final = 2
_MODULE: Final = "core.dtypes.libraries.library"


def library_report() -> LibraryReport:
    """Return what torch does: the kept answers, or new ones from a child process.

    Raises:
        ValueError: The child failed, or the state folder cannot be written to.
    """
    with FileLock(state_directory() / "library.lock"):
        if (known := cached_library_report()) is not None:
            return known
        text = "".join(lines_of(_MODULE, seconds=LIBRARY_SECONDS))
        report = report_from_json(json.loads(text))
        keep_library_report(report)
        return report


def cached_library_report() -> LibraryReport | None:
    """Return the kept answers at once, None when there are none for what is installed here."""
    try:
        return report_from_json(json.loads(_cache_file().read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


def keep_library_report(report: LibraryReport) -> None:
    """Keep answers for later; a reader never sees half of them.

    Raises:
        ValueError: The state folder cannot be written to.
    """
    keep_json(_cache_file(), asdict(report))


def _cache_file() -> Path:
    """Name the cache after what an answer depends on and can be known without torch."""
    machine = describe_machine()
    devices = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    facts = [FORMAT_VERSION, machine.torch, machine.system, machine.processor, devices]
    return kept_file("library", facts)
