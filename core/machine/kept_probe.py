"""The probe of this computer, made once in a child process and kept; never imports torch."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from filelock import FileLock

from core.language import _
from core.machine.machine import describe_machine
from core.machine.records import Probe, probe_from_json
from core.machine.state import state_directory

PROBE_SECONDS: Final = 180
FORMAT_VERSION: Final = 1
_ROOT: Final = Path(__file__).parents[2]
_DEVICE_VARIABLES: Final = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


def probe_machine(*, refresh: bool = False) -> Probe:
    """Return the probe of this computer: the kept one, or a new one from a child process.

    A kept result is used while torch, the processor and the visible devices are the same.

    Raises:
        ValueError: the child failed, or the state folder cannot be written to.
    """
    with FileLock(state_directory() / "probe.lock"):  # one child at a time measures undisturbed
        known = None if refresh else cached_probe()
        if known is not None:
            return known
        probe = _probe_in_child()
        keep_probe(probe)
        return probe


def keep_probe(probe: Probe) -> None:
    """Keep a probe of this computer for later; a reader never sees half of it.

    Raises:
        ValueError: the state folder cannot be written to.
    """
    target = _cache_file()
    part = target.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(probe.to_json()), encoding="utf-8")
    part.replace(target)


def cached_probe() -> Probe | None:
    """Return the kept probe at once, None when there is none that fits this computer."""
    try:
        return probe_from_json(json.loads(_cache_file().read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


def _cache_file() -> Path:
    """Name the cache after what a result depends on and can be known without torch."""
    machine = describe_machine()
    visible = [os.environ.get(name, "") for name in _DEVICE_VARIABLES]
    facts = [FORMAT_VERSION, machine.torch, machine.system, machine.architecture, *visible]
    facts += [machine.processor, machine.usable_cores, machine.memory_total >> 30]
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
    return state_directory() / f"probe-{key}.json"


def _probe_in_child() -> Probe:
    command = [sys.executable, "-m", "core.machine.probe", "--json"]
    try:
        child = subprocess.run(  # noqa: S603  our own module
            command,
            cwd=_ROOT,
            capture_output=True,
            encoding="utf-8",
            timeout=PROBE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        message = _(
            "Torch did not answer within {seconds} s; try again when the machine is less busy."
        )
        raise ValueError(message.format(seconds=PROBE_SECONDS)) from error
    if child.returncode != 0:
        last = (child.stderr.strip().splitlines() or [f"exit status {child.returncode}"])[-1]
        message = _("Torch could not be asked about this computer: {reason}")
        raise ValueError(message.format(reason=last))
    return probe_from_json(json.loads(child.stdout))
