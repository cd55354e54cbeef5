"""How fast this machine trains: measured once for each config, predicted for all others.

What was measured is kept in the state folder.
"""

import json
import platform
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from filelock import FileLock

from core.budget.by_hand.gpt import step_flops
from core.budget.catalogue.devices import sold_as
from core.budget.cluster import product_dtype
from core.language import _
from core.machine import cached_probe, installed_version, state_directory
from core.machine.child import error_line
from core.machine.gpus import gpu_facts
from core.machine.nvml import visible_gpus
from core.train.child import ROOT, child_environment
from core.train.config import TrainConfig
from core.train.control.device import device_for_now
from core.train.run.disk import write_atomically

CHILD_SECONDS: Final = 300
SLOW_STEP_SECONDS: Final = 3.0  # steps predicted to be slower are not timed before the start
ESTIMATE_BAND: Final = 0.5  # an unmeasured config may be this much faster or slower
MAX_KEPT: Final = 200
_SIZES = ("num_layers", "hidden_dim", "num_heads", "seq_len", "batch_size", "accumulation_steps")
# What changes a speed too; it is part of a key only where it is not as usual.
_ROWS: Final = (
    *("optimizer", "dropout", "family", "num_kv_heads", "checkpointing", "compile"),
    *("lora_rank", "mistake"),
)
_USUAL: Final = TrainConfig()


class TimingError(RuntimeError):
    """The steps could not be timed; the message holds the child's error."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing:
    """The speed of a config on this machine: median and spread of the timed steps, or an estimate.

    Attributes:
        num_steps_timed: 0 for an estimate.
        precision: What "auto" came to.
        device_bytes: Memory of an accelerator; None where it shares the machine's.
        flops: FLOPs of one step, for scaling to other configs.
        tried: Seconds per step of each precision that "auto" tried.
        gpu_trouble: Why torch could not use the GPU that is there; "" if nothing hindered it.
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
    gpu_trouble: str = ""

    def trouble_sentence(self) -> str:
        """Return why a run trains on another device than the GPU; "" if nothing hindered it."""
        if not self.gpu_trouble:
            return ""
        message = _("Torch cannot use the GPU here ({reason}): the run trains on {device}.")
        return message.format(reason=self.gpu_trouble, device=self.device_name)


def config_flops(config: TrainConfig, vocab_size: int) -> float:
    """Return the FLOPs of one optimizer step."""
    per_pass = step_flops(config.sizes(vocab_size), config.batch_size).amount
    return per_pass * config.accumulation_steps


def measure_timing(config: TrainConfig, vocab_size: int) -> Timing:
    """Time 20 steps in a fresh process, remember and return the result; takes seconds.

    Raises:
        TimingError: If the child fails, with its own words.
        NoSuchGpuError: If the config names a GPU that is not there.
    """
    question = json.dumps({"config": config.to_json(), "vocab_size": vocab_size})
    try:
        child = subprocess.run(
            [sys.executable, "-m", "core.train.start.stopwatch"],
            input=question,
            capture_output=True,
            text=True,
            timeout=CHILD_SECONDS,
            cwd=ROOT,
            env=child_environment() | _pinned(config),
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        text = _("Timing this machine took more than {seconds} s; choose a smaller model.")
        raise TimingError(text.format(seconds=CHILD_SECONDS)) from error
    if child.returncode:
        reason = error_line(child.stderr, child.returncode)
        raise TimingError(_("Timing this machine failed: {reason}").format(reason=reason))
    timing = Timing(
        **json.loads(child.stdout), flops=config_flops(config, vocab_size), measured_at=time.time()
    )
    remember(timing_key(config, vocab_size), timing)
    return timing


def _pinned(config: TrainConfig) -> dict[str, str]:
    """Return what the child's environment needs so that it times the GPU that would train."""
    return device_for_now("cuda", config.gpu).environment if config.may_use_cuda else {}


def predicted_timing(config: TrainConfig, vocab_size: int) -> Timing | None:
    """Return what is known of a config's speed without running it; None before any measurement.

    A config that was timed gives its measurement. Another one is scaled from the timed ones of the
    same device and precision: seconds = overhead + FLOPs / rate through two of them.
    """
    kept = kept_timings()
    exact = kept.get(timing_key(config, vocab_size))
    if exact is not None:
        return exact
    begin = _begin(config)
    like = [timing for key, timing in kept.items() if key.startswith(begin)]
    if like:  # "auto" may have come to the CPU once: rows of two devices say nothing together
        newest = max(like, key=lambda timing: timing.measured_at)
        like = [timing for timing in like if timing.device_name == newest.device_name]
    return _scaled(like, config_flops(config, vocab_size)) if like else None


def is_worth_timing(timing: Timing | None) -> bool:
    """Say whether 20 steps should be timed: not twice, and not when they would take minutes."""
    if timing is None:
        return True
    return not timing.num_steps_timed and timing.seconds_per_step <= SLOW_STEP_SECONDS


def _scaled(like: list[Timing], flops: float) -> Timing:
    near = min(like, key=lambda timing: abs(timing.flops - flops))
    overhead, per_flop = _line(like)
    seconds = overhead + per_flop * flops
    return replace(
        near,
        seconds_per_step=seconds,
        fastest_seconds=seconds * (1 - ESTIMATE_BAND),
        slowest_seconds=seconds * (1 + ESTIMATE_BAND),
        num_steps_timed=0,
        flops=flops,
        tried={},
    )


def _line(like: list[Timing]) -> tuple[float, float]:
    """Return (overhead seconds, seconds per FLOP) through the cheapest and the dearest config."""
    low = min(like, key=lambda timing: timing.flops)
    high = max(like, key=lambda timing: timing.flops)
    if high.flops == low.flops:
        return 0.0, low.seconds_per_step / low.flops
    slope = (high.seconds_per_step - low.seconds_per_step) / (high.flops - low.flops)
    if slope <= 0:  # noise on a busy machine
        return 0.0, high.seconds_per_step / high.flops
    return max(low.seconds_per_step - slope * low.flops, 0.0), slope


def timing_key(config: TrainConfig, vocab_size: int) -> str:
    """Return what decides a speed as one word: machine, torch, GPUs, device, precision, sizes."""
    parts = [str(getattr(config, name)) for name in _SIZES]
    chosen = {name: getattr(config, name) for name in _ROWS}
    rows = [f"{name}={each}" for name, each in chosen.items() if each != getattr(_USUAL, name)]
    return _begin(config) + "|".join([*parts, str(vocab_size), *rows])


def _begin(config: TrainConfig) -> str:
    device = f"{config.device}:{config.gpu}" if config.gpu else config.device
    return f"{_here()}{device}|{config.precision}|"


def _here() -> str:
    """Return how the keys of this machine begin, with this torch, these GPUs and this driver."""
    facts = (platform.node(), installed_version("torch") or "", ",".join(gpu_facts()))
    return "|".join(facts) + "|"


def kept_timings() -> dict[str, Timing]:
    """Return every speed that was measured on this machine with this torch."""
    try:
        stored: dict[str, Any] = json.loads(_file().read_text(encoding="utf-8"))
        here = _here()
        return {key: Timing(**row) for key, row in stored.items() if key.startswith(here)}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}  # no file yet, or one of another version: measure again


def remember(key: str, timing: Timing) -> None:
    """Keep a measurement; the oldest beyond MAX_KEPT are forgotten."""
    with FileLock(f"{_file()}.lock"):
        rows = {**kept_timings(), key: timing}
        newest = sorted(rows.items(), key=lambda row: row[1].measured_at)[-MAX_KEPT:]
        write_atomically(_file(), json.dumps({name: asdict(row) for name, row in newest}))


def _file() -> Path:
    return state_directory() / "timings.json"


def peak_of_run(timing: Timing) -> dict[str, Any]:
    """Return the FLOP/s that a run's MFU is measured by, as run.json has them; {} if not known.

    Of the data sheet, else of a product that was timed here. A slice of a card has a part of its
    speed, and nobody prints which: never the data sheet's.
    """
    is_card = timing.device == "cuda" and not any(gpu.is_slice for gpu in visible_gpus())
    sheet = sold_as(timing.device_name) if is_card else None
    if sheet and (timing.precision != "fp32" or "float32" in sheet.peak):
        own = _product(timing.precision)
        dtype = own if own in sheet.peak else product_dtype(sheet, timing.precision)
        peak, source = sheet.peak[dtype], str(sheet.known_of(dtype))
    else:
        peak, source = _measured(timing), "measured"
    return {"peak_flops_per_second": peak, "peak_source": source} if peak else {}


def _product(precision: str) -> str:
    """Return the dtype of a precision's matrix products.

    >>> [_product(name) for name in ("fp32", "fp16_unscaled", "pure_fp16", "pure_bf16")]
    ['float32', 'float16', 'float16', 'bfloat16']
    """
    if precision == "fp32":
        return "float32"
    return "float16" if "fp16" in precision else "bfloat16"


def _measured(timing: Timing) -> float:
    """Return the rate of the product that the probe timed in the run's dtype; 0 if it timed none.

    On a CPU only with as many threads as the run has: another number of cores is another device.
    """
    probe = cached_probe()
    if probe is None or (timing.device == "cpu" and probe.num_threads != timing.threads):
        return 0.0
    dtype = _product(timing.precision)
    for device in probe.devices:
        is_same = timing.device != "cuda" or device.name == timing.device_name
        if is_same and device.torch_name.partition(":")[0] == timing.device:
            rates = {speed.what: speed.median for speed in device.speeds}
            return rates.get(f"matmul {dtype}", 0.0)
    return 0.0
