"""Measured speeds, kept in the state folder: one for each config that was ever timed here."""

import json
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

from filelock import FileLock

from core.machine import installed_version, state_directory
from core.train.config import TrainConfig
from core.train.disk import write_atomically

MAX_KEPT: Final = 200
_FIELDS = (
    "device",
    "precision",
    "num_layers",
    "hidden_dim",
    "num_heads",
    "seq_len",
    "batch_size",
    "accumulation_steps",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing:
    """The speed of a config on this machine.

    Attributes:
        seconds_per_step: Median of the timed steps, or an estimate.
        fastest_seconds, slowest_seconds: The spread of the timed steps, or the estimate's band.
        num_steps_timed: How many were timed; 0 for an estimate.
        precision: What "auto" came to.
        device, device_name: Where.
        device_bytes: Memory of an accelerator; None where it shares the machine's.
        threads: CPU threads of the training process.
        flops: FLOPs of one step, for scaling to other configs.
        measured_at: Unix time in seconds.
        tried: Seconds per step of each precision that "auto" tried.
    """

    seconds_per_step: float
    fastest_seconds: float
    slowest_seconds: float
    num_steps_timed: int
    precision: str
    device: str
    device_name: str
    device_bytes: int | None
    threads: int
    flops: float
    measured_at: float
    tried: dict[str, float]

    @property
    def kind(self) -> Literal["measured", "estimated"]:
        """Whether these very steps were timed."""
        return "measured" if self.num_steps_timed else "estimated"


def timing_key(config: TrainConfig, vocab_size: int) -> str:
    """Return what decides a speed as one word: machine, torch, device, precision and sizes."""
    parts = [str(getattr(config, name)) for name in _FIELDS]
    return "|".join([platform.node(), installed_version("torch") or "", *parts, str(vocab_size)])


def _file() -> Path:
    return state_directory() / "timings.json"


def kept_timings() -> dict[str, Timing]:
    """Return every speed that was measured on this machine with this torch."""
    try:
        stored: dict[str, Any] = json.loads(_file().read_text(encoding="utf-8"))
        here = f"{platform.node()}|{installed_version('torch') or ''}|"
        return {key: Timing(**row) for key, row in stored.items() if key.startswith(here)}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}  # no file yet, or one of another version: measure again


def remember(key: str, timing: Timing) -> None:
    """Keep a measurement; the oldest beyond MAX_KEPT are forgotten."""
    with FileLock(f"{_file()}.lock"):
        rows = {**kept_timings(), key: timing}
        newest = sorted(rows.items(), key=lambda row: row[1].measured_at)[-MAX_KEPT:]
        write_atomically(_file(), json.dumps({name: asdict(row) for name, row in newest}))
