"""Which pip lines install torch, for each system and accelerator.

Source: PyTorch's release matrix for 2.13 (pytorch/pytorch RELEASE.md and pull request 187075):
CUDA 12.6, 13.0 and (experimental) 13.2, ROCm 7.2; the wheels on PyPI are CUDA 13.0 on Linux, CPU
on Windows, CPU with MPS on macOS. CUDA 12.1 left with torch 2.6 and 11.8 with 2.8, so older guides
name indexes that have no such torch.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core.language import _

TORCH_VERSION: Final = "2.13.0"
INDEX: Final = "https://download.pytorch.org/whl/"
SYSTEMS: Final[Mapping[str, str]] = {"linux": "Linux", "windows": "Windows", "macos": "macOS"}
PYPI: Final = ""  # pip's own index


@dataclass(frozen=True, kw_only=True, slots=True)
class Build:
    """One way torch is built."""

    key: str
    label: str
    indexes: Mapping[str, str]  # pip's index on each system that has it
    note: str
    available: str = ""  # what asks torch whether it finds such a device; "" where it always does


_ROWS: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
BUILDS: Final = tuple(Build(key=key, **row) for key, row in _ROWS.items())


@dataclass(frozen=True, kw_only=True, slots=True)
class InstallPlan:
    """The lines to type, in order; `torch_line` is the one that differs."""

    torch_line: str
    commands: tuple[str, ...]
    check: str
    note: str  # a message id


def install_plan(system: str, build: str) -> InstallPlan:
    """Return the lines that install this dashboard with that build of torch.

    Systems are "linux", "windows" and "macos".

    Raises:
        ValueError: If torch has no such build, or not for that system.
    """
    row = find_build(build)
    if system not in row.indexes:
        names = _(", ").join(SYSTEMS[name] for name in row.indexes)
        raise ValueError(
            _(
                "PyTorch {version} has no wheel for “{build}” on {system}; there is one for "
                "{names}.",
                version=TORCH_VERSION,
                build=_(row.label),
                system=SYSTEMS.get(system, system),
                names=names,
            )
        )
    index = row.indexes[system]
    torch_line = f"pip install torch=={TORCH_VERSION}"
    if index != PYPI:
        torch_line += f" --index-url {INDEX}{index}"
    shown = ["torch.__version__", *filter(None, [row.available])]
    environment = ("python3 -m venv .venv", "source .venv/bin/activate")
    if system == "windows":
        environment = ("py -m venv .venv", r".venv\Scripts\activate")
    last = ("pip install -r requirements.txt", "streamlit run app.py")
    return InstallPlan(
        torch_line=torch_line,
        commands=(*environment, torch_line, *last),
        check=f'python -c "import torch; print({", ".join(shown)})"',
        note=row.note,
    )


def find_build(key: str) -> Build:
    """Return the row of that key.

    Raises:
        ValueError: If there is none.
    """
    for row in BUILDS:
        if row.key == key:
            return row
    known = _(", ").join(row.key for row in BUILDS)
    raise ValueError(_("There is no build {key!r}; choose {known}.").format(key=key, known=known))
