"""How fast this machine trains: measured once for each config, predicted for all others."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from core.budget.gpt import step_flops
from core.language import _
from core.train.config import TrainConfig
from core.train.kept_timings import Timing, kept_timings, remember, timing_key

ROOT: Final = Path(__file__).resolve().parents[2]
CHILD_SECONDS: Final = 300
SLOW_STEP_SECONDS: Final = 3.0  # steps predicted to be slower are not timed before the start
ESTIMATE_BAND: Final = 0.5  # an unmeasured config may be this much faster or slower


class TimingError(RuntimeError):
    """The steps could not be timed; the message is the child's last line."""


def config_flops(config: TrainConfig, vocab_size: int) -> float:
    """Return the FLOPs of one optimizer step."""
    per_pass = step_flops(config.shape(vocab_size), config.batch_size).amount
    return per_pass * config.accumulation_steps


def measure_timing(config: TrainConfig, vocab_size: int) -> Timing:
    """Time 20 steps in a fresh process, remember and return the result; takes seconds.

    Raises:
        TimingError: If the child fails, with its own words.
    """
    question = json.dumps({"config": config.to_json(), "vocab_size": vocab_size})
    command = [sys.executable, "-m", "core.train.stopwatch"]
    child = subprocess.run(  # noqa: S603  our own module under our own interpreter
        command,
        input=question,
        capture_output=True,
        text=True,
        timeout=CHILD_SECONDS,
        cwd=ROOT,
        env=child_environment(),
        check=False,
    )
    if child.returncode:
        last_line = (child.stderr.strip().splitlines() or [f"exit {child.returncode}"])[-1]
        raise TimingError(_("Timing this machine failed: {reason}").format(reason=last_line))
    timing = Timing(
        **json.loads(child.stdout),
        flops=config_flops(config, vocab_size),
        measured_at=time.time(),
    )
    remember(timing_key(config, vocab_size), timing)
    return timing


def child_environment() -> dict[str, str]:
    """Return the environment of a training process: waiting threads sleep instead of spinning."""
    return {**os.environ, "OMP_WAIT_POLICY": "PASSIVE", "PYTHONPATH": str(ROOT)}


def predicted_timing(config: TrainConfig, vocab_size: int) -> Timing | None:
    """Return what is known of a config's speed without running it; None before any measurement.

    A config that was timed gives its measurement. Another one is scaled from the timed ones of the
    same device and precision: seconds = overhead + FLOPs / rate through two of them.
    """
    kept = kept_timings()
    exact = kept.get(timing_key(config, vocab_size))
    if exact is not None:
        return exact
    like = [
        timing
        for key, timing in kept.items()
        if (key.split("|")[2:4]) == [config.device, config.precision]
    ]
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
    return Timing(
        seconds_per_step=seconds,
        fastest_seconds=seconds * (1 - ESTIMATE_BAND),
        slowest_seconds=seconds * (1 + ESTIMATE_BAND),
        num_steps_timed=0,
        precision=near.precision,
        device=near.device,
        device_name=near.device_name,
        device_bytes=near.device_bytes,
        threads=near.threads,
        flops=flops,
        measured_at=near.measured_at,
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
