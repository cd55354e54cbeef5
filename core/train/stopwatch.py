"""Time steps of a config on this machine: a process of its own, so that the pages stay torch-free.

Reads one JSON object from standard input, {"config": ..., "vocab_size": ...}, and prints one.
"""

import json
import os
import statistics
import sys
from dataclasses import replace
from typing import Any, Final

import numpy as np
import torch

from core.train.config import TrainConfig
from core.train.precision import candidates, device_name, num_training_threads, pick_device
from core.train.trainer import Trainer

WARM_UP_STEPS: Final = 3
TIMED_STEPS: Final = 20
LONG_STEP_SECONDS: Final = 1.0  # a step this long is timed fewer times
MAX_SECONDS: Final = 10.0


def time_steps(config: TrainConfig, vocab_size: int, device: torch.device) -> list[float]:
    """Return the seconds of real training steps on random tokens, warm-up left out."""
    tokens = np.random.default_rng(0).integers(0, vocab_size, 20 * (config.seq_len + 1))
    ids = tokens.astype(np.uint16)
    trainer = Trainer(config, ids, ids, vocab_size, device)
    first = trainer.train_step().seconds
    if first > LONG_STEP_SECONDS:
        rest = int(min(MAX_SECONDS / first, TIMED_STEPS))
        return [trainer.train_step().seconds for _step in range(rest)] or [first]
    for _step in range(WARM_UP_STEPS - 1):
        trainer.train_step()
    return [trainer.train_step().seconds for _step in range(TIMED_STEPS)]


def fastest(config: TrainConfig, vocab_size: int) -> dict[str, Any]:
    """Return the timing of the config; "auto" precision tries each candidate and keeps the best."""
    device = pick_device(config.device)
    tried = candidates(device) if config.precision == "auto" else (config.precision,)
    timings = {
        precision: time_steps(replace(config, precision=precision), vocab_size, device)
        for precision in tried
    }
    best = min(timings, key=lambda precision: statistics.median(timings[precision]))
    return {
        "device": device.type,
        "device_name": device_name(device),
        "device_bytes": _device_bytes(device),
        "precision": best,
        "threads": torch.get_num_threads(),
        "seconds_per_step": statistics.median(timings[best]),
        "fastest_seconds": min(timings[best]),
        "slowest_seconds": max(timings[best]),
        "num_steps_timed": len(timings[best]),
        "tried": {name: statistics.median(seconds) for name, seconds in timings.items()},
    }


def _device_bytes(device: torch.device) -> int | None:
    """Return the memory of a CUDA device; other devices share the machine's."""
    if device.type != "cuda":
        return None
    return int(torch.cuda.get_device_properties(device).total_memory)


def main() -> None:
    """Answer the question on standard input."""
    question = json.load(sys.stdin)
    torch.set_num_threads(num_training_threads())
    answer = fastest(TrainConfig.from_json(question["config"]), question["vocab_size"])
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    main()
