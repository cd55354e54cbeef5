"""How long a step of nanoGPT's CPU shape takes, ours in fp32 and auto; `--peer` adds a clone.

The last row is a sample that the same shape writes, once the others have stopped.
"""

import argparse
import os
import statistics
import time
from pathlib import Path

import torch

from core.models import GPTShape
from core.models.gpt import GPT
from core.train.learning.precision import num_training_threads
from core.train.learning.sampler import generate
from core.train.start.bench import bench_lines

SHAPE = GPTShape(num_layers=4, hidden_dim=128, num_heads=4, vocab_size=65, seq_len=64)
SAMPLE_LENGTH = 100  # above the context: its window slides in the last third


def sample_line(num_times: int) -> str:
    """Return the row of a sample: median, shortest, longest."""
    torch.set_num_threads(num_training_threads())
    model = GPT(SHAPE)
    spent = []
    for seed in range(num_times + 1):
        began = time.perf_counter()
        generate(model, [0], SAMPLE_LENGTH, seed)
        spent.append(1000 * (time.perf_counter() - began))
    del spent[0]  # it loads kernels
    what = f"a sample of {SAMPLE_LENGTH} characters, fp32 (ms)"
    return f"{what:<44} {statistics.median(spent):>8.2f} {min(spent):>7.2f} {max(spent):>7.2f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    named = os.environ.get("PEER")  # as `make bench PEER=path` passes it on
    parser.add_argument("--peer", type=Path, default=Path(named) if named else None)
    parser.add_argument("--pairs", type=int, default=7)
    chosen = parser.parse_args()
    for line in bench_lines(chosen.peer, chosen.pairs):
        print(line, flush=True)
    print(sample_line(chosen.pairs))


if __name__ == "__main__":
    main()
