"""How long a step of nanoGPT's CPU shape takes, ours in fp32 and auto; `--peer` adds a clone.

The last rows are a sample that the same shape writes, once the others have stopped, what its
surprise adds, and what share of a one-minute run that is.
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
from core.train.learning.surprise import written_with_surprise
from core.train.run.disk import to_json
from core.train.start.bench import bench_lines
from core.train.start.presets import find_duration
from core.train.text.tokenizers import CharacterTokenizer

SHAPE = GPTShape(num_layers=4, hidden_dim=128, num_heads=4, vocab_size=65, seq_len=64)
NUM_SAMPLES = 20  # of a run, whatever it lasts
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


def surprise_lines(num_times: int) -> list[str]:
    """Return the rows of a sample's surprise: alone, and its share of the shortest preset."""
    tokenizer = CharacterTokenizer("".join(chr(48 + place) for place in range(SHAPE.vocab_size)))
    logits = list(torch.randn(SAMPLE_LENGTH, SHAPE.vocab_size))
    ids = [place % SHAPE.vocab_size for place in range(SAMPLE_LENGTH)]
    spent = []
    for _time in range(num_times + 1):
        began = time.perf_counter()
        told = [each.to_json() for each in written_with_surprise(tokenizer, ids, logits)]
        to_json({"written": told})
        spent.append(1000 * (time.perf_counter() - began))
    del spent[0]
    what = "its surprise and candidates, as they are stored (ms)"
    middle = statistics.median(spent)
    row = f"{what:<44} {middle:>8.2f} {min(spent):>7.2f} {max(spent):>7.2f}"
    share = NUM_SAMPLES * middle / 1000 / find_duration("one_minute").seconds
    return [row, f"{NUM_SAMPLES} of them in a one-minute run (%) {100 * share:>20.3f}"]


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
    for line in surprise_lines(chosen.pairs):
        print(line)


if __name__ == "__main__":
    main()
