"""How long a step of nanoGPT's CPU shape takes, ours in fp32 and auto; `--peer` adds a clone.

Then what a run adds to its steps: records, memory, state, a look for commands; all that is not
evaluating, sampling or saving at an interval. Beside it stands what a watch adds.

The last rows are a sample that the same shape writes, what its surprise adds, and what share of a
one-minute run that is.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

from core.models import GPTShape
from core.models.gpt import GPT
from core.train.config import TrainConfig
from core.train.control.commands import Inbox, StopSignal
from core.train.control.orders import Orders
from core.train.learning.precision import num_training_threads
from core.train.learning.sampler import Sampler, generate
from core.train.learning.surprise import written_with_surprise
from core.train.learning.trainer import Trainer
from core.train.run.disk import to_json
from core.train.run.store import RunStore
from core.train.start.bench import bench_lines
from core.train.start.presets import find_duration
from core.train.start.stopwatch import SETTINGS, VOCAB_SIZE, random_tokens
from core.train.text.tokenizers import CharacterTokenizer
from core.train.watch import Watch
from core.train.worker.observer import Observer
from core.train.worker.session import Session

SHAPE = GPTShape(num_layers=4, hidden_dim=128, num_heads=4, vocab_size=65, seq_len=64)
NUM_SAMPLES = 20  # of a run, whatever it lasts
SAMPLE_LENGTH = 100  # above the context: its window slides in the last third
STEPS_WATCHED = 50  # in a turn: memory is looked at in every 25th


def instruments_line(num_pairs: int) -> str:
    """Return the row of what a run adds to its steps, in percent: median, least, most."""
    torch.set_num_threads(num_training_threads())
    rare = dict.fromkeys(("eval_interval", "sample_interval", "checkpoint_interval"), 1_000_000)
    many = STEPS_WATCHED * (num_pairs + 2)  # the last step would evaluate and sample
    settings = {**SETTINGS, **rare, "precision": "fp32", "num_steps": many}
    config, tokens = TrainConfig.from_json(settings), random_tokens()
    cpu = torch.device("cpu")
    alone, watched = (Trainer(config, tokens, tokens, VOCAB_SIZE, cpu) for _each in range(2))
    with tempfile.TemporaryDirectory() as place, RunStore(Path(place)) as store:
        text = "a text"
        sampler = Sampler(text, CharacterTokenizer(text), text[:1], 0, "fp32")
        inbox, observer = Inbox(store.directory), Observer(watched, store, sampler)
        session = Session(observer, inbox, Orders(), StopSignal())
        session.state = "running"
        return added_line("a run adds to its steps", alone.train_step, session.advance, num_pairs)


def watch_line(num_pairs: int) -> str:
    """Return the row of what core/train/watch.py adds to a loop of one's own, as above.

    Its steps are short, about 25 ms: what is added to each weighs most there.
    """
    torch.set_num_threads(num_training_threads())
    config = TrainConfig.from_json({**SETTINGS, "precision": "fp32", "batch_size": 4})
    tokens, cpu = random_tokens(), torch.device("cpu")
    alone, watched = (Trainer(config, tokens, tokens, VOCAB_SIZE, cpu) for _each in range(2))
    many = STEPS_WATCHED * (num_pairs + 1)
    tells = {"num_steps": many, "tokens_per_step": config.batch_size * config.seq_len}
    with (
        tempfile.TemporaryDirectory() as runs,
        Watch(watched.model, watched.optimizer, runs=runs, **tells) as watch,
    ):

        def step() -> None:
            watch.step(watched.train_step().loss)

        return added_line("a watch adds to short steps", alone.train_step, step, num_pairs)


def added_line(
    what: str, alone: Callable[[], object], more: Callable[[], object], num_pairs: int
) -> str:
    """Time two kinds of steps in turns; return in percent what the second takes more."""
    arms, added = [alone, more], []
    for number in range(num_pairs + 1):
        seconds = dict.fromkeys(arms, 0.0)
        for _turn in range(STEPS_WATCHED):
            for arm in arms if number % 2 else reversed(arms):
                began = time.perf_counter()
                arm()
                seconds[arm] += time.perf_counter() - began
        added.append(100 * (seconds[more] / seconds[alone] - 1))
    del added[0]  # it loads kernels
    what = f"what {what}, fp32 (%, {num_pairs} turns)"
    return f"{what:<44} {statistics.median(added):>8.2f} {min(added):>7.2f} {max(added):>7.2f}"


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
    print(instruments_line(4 * chosen.pairs), flush=True)
    print(watch_line(4 * chosen.pairs), flush=True)
    print(sample_line(chosen.pairs))
    for line in surprise_lines(chosen.pairs):
        print(line)


if __name__ == "__main__":
    main()
