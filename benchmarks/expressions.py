"""How robust and how quick the expression language is: random texts, lists of names, all attacks.

A text ends with a result within the limits or with a sentence; anything else is counted as a crash
and printed. Times are wall times of one thread, after a warm-up: the goal is that every attack of
tests/core/expressions/refused.py is rejected within 50 ms. Memory is the process's resident set.
Programs of names, lists and tuples multiply what they hold; each goes through every entrance, in a
thread of its own that must have ended within the program's seconds.

    PYTHONPATH=. python benchmarks/expressions.py [--texts 50000] [--nested 1000]
"""

import argparse
import random
import statistics
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import psutil
import torch
from torch import Tensor

from core.autograd.program import capture_program
from core.expressions import MATERIALIZED, ON_META, ExpressionError, Limits
from core.expressions.grammar import parse
from core.expressions.interpreter import evaluate
from core.expressions.names import LAYOUT, MUTATION, Profile
from core.tensors.trace import trace
from core.tensors.writes import run_writes
from tests.core.expressions.random_programs import nested_program, random_program
from tests.core.expressions.refused import REFUSED

SEED = 20261123
GOAL_MS = 50.0
ENTRANCES: Mapping[str, Callable[[str], object]] = {
    "strides_code": lambda source: trace(source, inputs("cpu")),
    "strides_code, a large x": lambda source: trace(source, inputs("meta"), ON_META),
    "index_code": lambda source: run_writes(source, lambda: inputs("cpu")),
    "graph_code": lambda source: capture_program(source, inputs("cpu")),
}
NUM_TURNS = 5  # of each attack; the median counts, so that a busy machine is not blamed on a text


@dataclass
class Outcome:
    """What became of texts, and how long each took, in ms."""

    kinds: Counter[str] = field(default_factory=Counter)
    times: list[tuple[float, str]] = field(default_factory=list)


def inputs(device: str) -> dict[str, Tensor]:
    """Return the tensors that texts are written for."""
    x = torch.arange(24.0, device=device).view(4, 6)
    return {
        "x": x,
        "v": torch.arange(7.0, device=device),
        "m": x > 3,
        "s": torch.ones((), dtype=torch.int64, device=device),
        "e": torch.zeros(0, 3, device=device),
    }


def judge(text: str, outcome: Outcome, limits: Limits, profile: Profile) -> None:
    """Run a text and note its kind and time."""
    tensors = inputs("meta" if limits.on_meta else "cpu")
    start = time.perf_counter()
    try:
        evaluate(parse(text), tensors, limits, profile)
        kind = "evaluated"
    except ExpressionError:
        kind = "refused with a sentence"
    except Exception as error:  # noqa: BLE001  what is looked for
        kind = "CRASHED"
        print(f"{type(error).__name__}: {error}\n  {text!r}")
    outcome.times.append(((time.perf_counter() - start) * 1000, text))
    outcome.kinds[kind] += 1


def random_texts(num_texts: int) -> Outcome:
    """Judge random texts, a fifth of them on tensors without data."""
    rng = random.Random(SEED)  # noqa: S311  a seeded measurement
    outcome = Outcome()
    for _ in range(num_texts):
        limits = ON_META if rng.random() < 0.2 else MATERIALIZED
        judge(random_program(rng), outcome, limits, rng.choice([LAYOUT, MUTATION]))
    return outcome


def attacks() -> Outcome:
    """Judge each known attack a few times, and keep the median of its times."""
    outcome = Outcome()
    for text in REFUSED:
        turns = Outcome()
        for _ in range(NUM_TURNS):
            judge(text, turns, MATERIALIZED, LAYOUT)
        outcome.kinds += turns.kinds
        outcome.times.append((statistics.median(each for each, _text in turns.times), text))
    return outcome


def nested(num_programs: int, entrance: str) -> Outcome:
    """Send programs of names, lists and tuples through an entrance, each in its own thread."""
    rng, outcome, ended = random.Random(SEED), Outcome(), list[str]()  # noqa: S311  measured

    def work(source: str) -> None:
        told = ENTRANCES[entrance](source)
        error = getattr(told, "trace", told).error  # type: ignore[attr-defined]  # of every entrance
        ended.append("refused with a sentence" if error else "evaluated")

    for _ in range(num_programs):
        source = nested_program(rng)
        ended.clear()
        thread = threading.Thread(target=work, args=(source,), daemon=True)
        start = time.perf_counter()
        thread.start()
        thread.join(MATERIALIZED.seconds)
        outcome.times.append(((time.perf_counter() - start) * 1000, source))
        outcome.kinds["STILL RUNNING" if thread.is_alive() else (*ended, "CRASHED")[0]] += 1
    return outcome


def report(title: str, outcome: Outcome, grown_bytes: int) -> None:
    """Print a table of counts, times and memory."""
    times = sorted(outcome.times)
    print(f"\n{title}: {', '.join(f'{n:,} {kind}' for kind, n in outcome.kinds.items())}")
    print(f"  median {statistics.median(each for each, _text in times):.2f} ms", end="")
    print(f", 99th percentile {times[len(times) * 99 // 100][0]:.1f} ms", end="")
    print(f", memory {grown_bytes / 2**20:+.1f} MiB; slowest:")
    for milliseconds, text in times[-3:][::-1]:
        print(f"  {milliseconds:8.1f} ms  {text[:80]!r}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Warm up, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=50_000)
    parser.add_argument("--nested", type=int, default=1_000)
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # torch's own, of old ways to index
    torch.set_num_threads(1)
    random_texts(500)
    attacks()
    for entrance in ENTRANCES:
        nested(20, entrance)
    process = psutil.Process()
    runs: dict[str, Callable[[], Outcome]] = {
        **{f"nested lists, {each}": partial(nested, given.nested, each) for each in ENTRANCES},
        "random texts": lambda: random_texts(given.texts),
        "attacks": attacks,
    }
    for title, run in runs.items():
        before = process.memory_info().rss
        outcome = run()
        report(title, outcome, process.memory_info().rss - before)
    print(f"\nthreads at the end: {threading.active_count()}")
    slow = sum(milliseconds > GOAL_MS for milliseconds, _text in outcome.times)
    print(f"\nattacks that took more than {GOAL_MS:.0f} ms: {slow} of {len(outcome.times)}")


if __name__ == "__main__":
    main()
