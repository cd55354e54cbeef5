"""One contender of the benchmark, in a process of its own: ours, or a clone of nanoGPT.

Reads a number of steps from each line of standard input, trains them, and prints how long a step
took. Its first line of output says what it trains.
"""

import importlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from core.train.config import TrainConfig
from core.train.precision import num_training_threads, pick_device
from core.train.stopwatch import fastest
from core.train.trainer import Trainer

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
WARM_UP_STEPS: Final = 5

Step = Callable[[], object]


def random_tokens() -> "np.ndarray[Any, np.dtype[np.uint16]]":
    """Return a text of random tokens; the speed does not depend on what it says."""
    return np.random.default_rng(0).integers(0, VOCAB_SIZE, NUM_TOKENS).astype(np.uint16)


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


def take_turns(step: Step, description: str) -> None:
    """Warm up, say what is trained, then train when told to."""
    for _step in range(WARM_UP_STEPS):
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


# What a clone prints while it builds its model is not an answer.
_stdout = sys.stdout


def main(kind: str, what: str) -> None:
    """Be "ours" in a precision, or the "peer" in a folder."""
    torch.set_num_threads(num_training_threads())
    sys.stdout = sys.stderr
    with tempfile.TemporaryDirectory() as place:
        if kind == "peer":
            take_turns(*peer_step(Path(what), Path(place) / "train.bin"))
        else:
            take_turns(*our_step(what))


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    main(*sys.argv[1:])
