"""Which GPUs a process may see, and under which driver: known without torch, and at once."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

VISIBLE: Final = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_DRIVER: Final = Path("/proc/driver/nvidia")
_ASK_SECONDS: Final = 10
_QUERY: Final = ("--query-gpu=uuid,driver_version", "--format=csv,noheader")


def gpu_facts() -> tuple[str, ...]:
    """Return what a measurement on a GPU depends on: visible devices, driver, each card.

    NVIDIA's driver for Linux tells it in /proc; elsewhere its own tool is asked, once a process.
    """
    visible = [f"{name}={value}" for name in VISIBLE if (value := os.environ.get(name))]
    return (*visible, *(_told_by_the_driver() or _told_by_the_tool()))


def _told_by_the_driver() -> Sequence[str]:
    try:
        version = (_DRIVER / "version").read_text(encoding="utf-8").partition("\n")[0]
        cards = sorted(_DRIVER.glob("gpus/*/information"))
        return [version, *(_uuid(card.read_text(encoding="utf-8")) for card in cards)]
    except OSError:
        return ()


def _uuid(information: str) -> str:
    rows = (line.partition(":") for line in information.splitlines())
    told = {name.strip(): value.strip() for name, _colon, value in rows}
    return f"{told.get('Model', '?')} {told.get('GPU UUID', '?')}"


@cache
def _told_by_the_tool() -> Sequence[str]:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ()
    try:
        command = [tool, *_QUERY]
        told = subprocess.run(  # noqa: S603  found on the path by its name
            command, capture_output=True, text=True, timeout=_ASK_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(told.stdout.split("\n"))
