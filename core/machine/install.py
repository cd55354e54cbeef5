"""Which pip lines install torch, for each system and accelerator.

Source: PyTorch's release matrix for 2.13 (pytorch/pytorch RELEASE.md and pull request 187075):
CUDA 12.6, 13.0 and (experimental) 13.2, ROCm 7.2; the wheels on PyPI are CUDA 13.0 on Linux, CPU
on Windows, CPU with MPS on macOS. CUDA 12.1 left with torch 2.6 and 11.8 with 2.8, so older guides
name indexes that have no such torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.language import N_, _

TORCH_VERSION: Final = "2.13.0"
INDEX: Final = "https://download.pytorch.org/whl/"
SYSTEMS: Final[Mapping[str, str]] = {"linux": "Linux", "windows": "Windows", "macos": "macOS"}
PYPI: Final = ""  # pip's own index


@dataclass(frozen=True, kw_only=True, slots=True)
class Build:
    """One way torch is built.

    Attributes:
        indexes: Pip's index on each system that has it.
        available: What asks torch whether it finds such a device; "" where it always does.
    """

    key: str
    label: str
    indexes: Mapping[str, str]
    note: str
    available: str = ""


BUILDS: Final = (
    Build(
        key="cpu",
        label=N_("CPU only"),
        indexes={"linux": "cpu", "windows": PYPI, "macos": PYPI},
        note=N_(
            "Runs everywhere, and everything here works with it. On Linux the plain line would "
            "fetch gigabytes of CUDA libraries, so the small CPU wheel has its own index."
        ),
    ),
    Build(
        key="cuda",
        label=N_("NVIDIA GPU"),
        indexes={"linux": PYPI, "windows": "cu130"},
        available="torch.cuda.is_available()",
        note=N_(
            "CUDA 13.0: cards from Turing (2018, RTX 20) to Blackwell, with driver 580 or newer. "
            "PyPI's wheel for Linux is this build; its wheel for Windows is CPU only, hence the "
            "index there."
        ),
    ),
    Build(
        key="cuda126",
        label=N_("NVIDIA GPU, older"),
        indexes={"linux": "cu126", "windows": "cu126"},
        available="torch.cuda.is_available()",
        note=N_(
            "CUDA 12.6: cards from Maxwell (GTX 900) to Hopper, and drivers older than 580. "
            "It does not know Blackwell (RTX 50)."
        ),
    ),
    Build(
        key="rocm",
        label=N_("AMD GPU"),
        indexes={"linux": "rocm7.2"},
        available="torch.cuda.is_available()",
        note=N_("ROCm 7.2. In torch an AMD card answers to the name cuda."),
    ),
    Build(
        key="mps",
        label=N_("Apple GPU"),
        indexes={"macos": PYPI},
        available="torch.backends.mps.is_available()",
        note=N_(
            "The plain wheel holds MPS for Apple silicon. There have been no wheels for Intel Macs "
            "since torch 2.3."
        ),
    ),
)


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
