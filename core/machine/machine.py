"""What this computer is, as far as one can tell without loading torch."""

import importlib.metadata
import os
import platform
from dataclasses import dataclass
from functools import cache
from typing import Final

import psutil

TOLD_PACKAGES: Final = ("streamlit", "plotly", "numpy", "torch")


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """This computer: memory in bytes, `versions` of the installed packages that matter here."""

    python: str
    system: str  # "Linux 6.1", "Windows 11", "Darwin 24.1"
    architecture: str  # "x86_64", "arm64"
    processor: str  # as the system names it; torch names it better (Probe.cpu_name)
    physical_cores: int
    logical_cores: int
    usable_cores: int  # those this process may run on
    memory_total: int
    memory_available: int
    versions: tuple[tuple[str, str], ...]

    @property
    def torch(self) -> str | None:
        """The installed torch, with its build: "2.13.0+cpu"; None without torch."""
        return dict(self.versions).get("torch")


def describe_machine() -> Machine:
    """Describe this computer in some milliseconds; memory is as of now."""
    memory = psutil.virtual_memory()
    logical = psutil.cpu_count(logical=True) or 1
    return Machine(
        python=platform.python_version(),
        system=f"{platform.system()} {platform.release()}",
        architecture=platform.machine(),
        processor=platform.processor() or platform.machine(),
        physical_cores=psutil.cpu_count(logical=False) or logical,
        logical_cores=logical,
        usable_cores=usable_cores(),
        memory_total=memory.total,
        memory_available=memory.available,
        versions=tuple(
            (name, version)
            for name in TOLD_PACKAGES
            if (version := installed_version(name)) is not None
        ),
    )


@cache
def installed_version(package: str) -> str | None:
    """Return the version that pip installed, None when it did not; nothing is imported.

    Read once: reading took a tenth of the time of a page.

    >>> installed_version("no-such-package") is None
    True
    """
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def usable_cores() -> int:
    """Return the logical cores that this process may run on.

    macOS cannot pin a process, so there it is all of them.
    """
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows
        return psutil.cpu_count(logical=True) or 1
