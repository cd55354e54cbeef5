"""Training steps, timed in a separate process, so that the pages stay torch-free.

Without arguments it reads one JSON object from standard input, {"config": ..., "vocab_size": ...},
times steps of that config, and prints one. With `ours PRECISION` or `peer NANOGPT_CLONE` it is a
contender of the benchmark: its first line of output says what it trains; then it reads a number of
steps from each line of standard input, trains them, and prints how long a step took.
"""

import importlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from core.train.config import TrainConfig
from core.train.learning.precision import (
    candidates,
    device_name,
    gpu_trouble,
    multiply_fp32_in_fp32,
    num_training_threads,
    pick_device,
)
from core.train.learning.trainer import Trainer

WARM_UP_STEPS: Final = 3
TIMED_STEPS: Final = 20
LONG_STEP_SECONDS: Final = 1.0  # a step this long is timed fewer times
MAX_SECONDS: Final = 10.0

COMPETING_WARM_UP_STEPS: Final = 5
VOCAB_SIZE: Final = 65
NUM_TOKENS: Final = 1_003_854  # of nanoGPT's Shakespeare, the nine tenths that it trains on
SETTINGS: Final = {
    "num_layers": 4,
    "num_heads": 4,
    "hidden_dim": 128,
    "seq_len": 64,
    "batch_size": 12,
    "learning_rate": 1e-3,
    "min_learning_rate": 1e-4,
    "beta2": 0.99,
    "num_steps": 2000,
    "warmup_steps": 100,
    "device": "cpu",
}

Step = Callable[[], object]

# What a clone prints while it builds its model is not an answer.
_stdout = sys.stdout


def main(*contender: str) -> None:
    """Answer one question, or be the contender that the command line names."""
    torch.set_num_threads(num_training_threads())
    multiply_fp32_in_fp32()
    if contender:
        compete(*contender)
        return
    question = json.load(sys.stdin)
    answer = fastest(TrainConfig.from_json(question["config"]), question["vocab_size"])
    sys.stdout.write(json.dumps(answer))


def fastest(config: TrainConfig, vocab_size: int) -> dict[str, Any]:
    """Return the timing of the config; "auto" precision tries each candidate and keeps the best."""
    device = pick_device(config.device)
    tried = candidates(device) if config.precision == "auto" else (config.precision,)
    timings = {
        precision: time_steps(replace(config, precision=precision), vocab_size, device)
        for precision in tried
    }
    on_cuda = device.type == "cuda"  # other devices share the machine's memory
    best = min(timings, key=lambda precision: statistics.median(timings[precision]))
    return {
        "device": device.type,
        "device_name": device_name(device),
        "gpu_trouble": (gpu_trouble() or "") if config.device == "auto" else "",
        "device_bytes": torch.cuda.get_device_properties(device).total_memory if on_cuda else None,
        "precision": best,
        "threads": torch.get_num_threads(),
        "seconds_per_step": statistics.median(timings[best]),
        "fastest_seconds": min(timings[best]),
        "slowest_seconds": max(timings[best]),
        "num_steps_timed": len(timings[best]),
        "tried": {name: statistics.median(seconds) for name, seconds in timings.items()},
    }


def time_steps(config: TrainConfig, vocab_size: int, device: torch.device) -> list[float]:
    """Return the seconds of real training steps on random tokens, warm-up left out."""
    tokens = np.random.default_rng(0).integers(0, vocab_size, 20 * (config.seq_len + 1))
    ids = tokens.astype(np.uint16)
    trainer = Trainer(config, ids, ids, vocab_size, device)
    trainer.train_step()  # it loads kernels and says nothing about the steps that follow
    second = trainer.train_step().seconds
    if second > LONG_STEP_SECONDS:
        rest = int(min(MAX_SECONDS / second, TIMED_STEPS))
        return [trainer.train_step().seconds for _step in range(rest)] or [second]
    for _step in range(WARM_UP_STEPS - 2):
        trainer.train_step()
    return [trainer.train_step().seconds for _step in range(TIMED_STEPS)]


def compete(kind: str, what: str) -> None:
    """Be "ours" in a precision, or the "peer" in a folder."""
    sys.stdout = sys.stderr
    with tempfile.TemporaryDirectory() as place:
        if kind == "peer":
            take_turns(*peer_step(Path(what), Path(place) / "train.bin"))
        else:
            take_turns(*our_step(what))


def our_step(precision: str) -> tuple[Step, str]:
    """Return our training step, and what "auto" came to: it takes the fastest precision here."""
    config = TrainConfig.from_json({**SETTINGS, "precision": precision})
    chosen = fastest(config, VOCAB_SIZE)["precision"] if precision == "auto" else precision
    config = TrainConfig.from_json({**SETTINGS, "precision": chosen})
    tokens = random_tokens()
    trainer = Trainer(config, tokens, tokens, VOCAB_SIZE, pick_device("cpu"))
    return trainer.train_step, f" ({chosen})" if precision == "auto" else ""


def peer_step(folder: Path, data: Path) -> tuple[Step, str]:
    """Return the training step of a nanoGPT clone.

    The model, its initialisation and its optimizer are the clone's own code. The loop around them
    repeats its train.py, which is a script that cannot be imported.
    """
    model, optimizer = _peer_model(folder)
    random_tokens().tofile(data)

    def batch() -> tuple[torch.Tensor, torch.Tensor]:
        tokens = np.memmap(data, dtype=np.uint16, mode="r")
        starts = torch.randint(len(tokens) - 64, (12,))
        rows = [torch.from_numpy(tokens[i : i + 64].astype(np.int64)) for i in starts]
        after = [torch.from_numpy(tokens[i + 1 : i + 65].astype(np.int64)) for i in starts]
        return torch.stack(rows), torch.stack(after)

    following = [batch()]

    def step() -> float:
        for group in optimizer.param_groups:
            group["lr"] = 1e-3
        _logits, loss = model(*following[0])
        following[0] = batch()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return float(loss.item())

    return step, ""


def _peer_model(folder: Path) -> tuple[Any, Any]:
    sys.path.insert(0, str(folder))
    module = importlib.import_module("model")
    shape = {"n_layer": 4, "n_head": 4, "n_embd": 128, "block_size": 64}
    config = module.GPTConfig(**shape, bias=False, vocab_size=VOCAB_SIZE, dropout=0.0)
    model = module.GPT(config)
    optimizer = model.configure_optimizers(0.1, 1e-3, (0.9, 0.99), "cpu")
    model.train()
    return model, optimizer


def random_tokens() -> "np.ndarray[Any, np.dtype[np.uint16]]":
    """Return a text of random tokens; the speed does not depend on what it says."""
    return np.random.default_rng(0).integers(0, VOCAB_SIZE, NUM_TOKENS).astype(np.uint16)


def take_turns(step: Step, description: str) -> None:
    """Warm up, say what is trained, then train when told to."""
    for _step in range(COMPETING_WARM_UP_STEPS):
        step()
    _say(description)
    for line in sys.stdin:
        seconds, cpu_began = [], time.process_time()
        for _step in range(int(line)):
            began = time.perf_counter()
            step()
            seconds.append(time.perf_counter() - began)
        cpu = (time.process_time() - cpu_began) / len(seconds)
        _say(json.dumps({"seconds": statistics.median(seconds), "cpu_seconds": cpu}))


def _say(line: str) -> None:
    _stdout.write(line + "\n")
    _stdout.flush()


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    main(*sys.argv[1:])
