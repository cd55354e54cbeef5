"""How fast we train nanoGPT's own CPU shape, and how fast a clone of nanoGPT does, side by side.

Every contender lives in a separate process and trains a few steps in its turn; the others sleep.
The order is reversed every round, so that a machine that warms up or gets busy favours nobody.
Source of the shape: the README of nanoGPT (Karpathy, MIT licence), "only have a macbook".
"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

from core.language import _
from core.machine.child import error_line
from core.train.child import ROOT, child_environment
from core.train.start.timing import TimingError

STEPS_A_TURN: Final = 20
PLAIN: Final = {**os.environ, "PYTHONPATH": str(ROOT)}
PEER: Final = "nanoGPT, fp32"
TOKENS_PER_STEP: Final = 12 * 64
MIN_PAIRS: Final = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """What a contender did in its turn: median wall time of a step, CPU time of all its threads."""

    seconds: float
    cpu_seconds: float


class Contender:
    """A process that trains when it is told to."""

    def __init__(self, arguments: list[str], stack: ExitStack) -> None:
        """Start it; the stack ends it."""
        self._process = stack.enter_context(
            subprocess.Popen(  # noqa: S603  our own module under our own interpreter
                [sys.executable, "-m", "core.train.start.stopwatch", *arguments],
                cwd=ROOT,
                # A clone runs as it is found; it needs to find this module only.
                env=PLAIN if arguments[0] == "peer" else child_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        stack.callback(self._process.kill)
        self.description = self._answer()

    def train(self, num_steps: int) -> Turn:
        """Train some steps now."""
        orders = cast("IO[str]", self._process.stdin)
        orders.write(f"{num_steps}\n")
        orders.flush()
        return Turn(**json.loads(self._answer()))

    def _answer(self) -> str:
        line = cast("IO[str]", self._process.stdout).readline()
        if line:
            return line.strip()
        complaints = cast("IO[str]", self._process.stderr).read()
        reason = error_line(complaints, self._process.wait())
        raise TimingError(_("The benchmark failed: {reason}").format(reason=reason))


def measure(peer: Path | None, num_pairs: int) -> dict[str, list[Turn]]:
    """Return the turns of each contender; the order of the names is that of the report.

    `peer`: the folder of a nanoGPT clone, with its model.py; None to measure only us.

    Raises:
        ValueError: the folder holds no nanoGPT, or there are too few pairs.
        TimingError: a contender cannot train.
    """
    if num_pairs < MIN_PAIRS:
        message = _("{count} pairs say little; measure at least {least}.")
        raise ValueError(message.format(count=num_pairs, least=MIN_PAIRS))
    arguments = {"ours, fp32": ["ours", "fp32"], "ours, auto": ["ours", "auto"]}
    if peer is not None:
        if not (peer / "model.py").is_file():
            message = _(
                "{folder} holds no model.py; name the folder of a clone of "
                "https://github.com/karpathy/nanoGPT."
            )
            raise ValueError(message.format(folder=peer))
        arguments = {PEER: ["peer", str(peer.resolve())], **arguments}
    with ExitStack() as stack:
        there = {name: Contender(words, stack) for name, words in arguments.items()}
        names = {name: f"{name} {it.description}".strip() for name, it in there.items()}
        turns: dict[str, list[Turn]] = {shown: [] for shown in names.values()}
        for number in range(num_pairs):
            for name in list(there) if number % 2 else reversed(list(there)):
                turns[names[name]].append(there[name].train(STEPS_A_TURN))
        return turns


def bench_lines(peer: Path | None, num_pairs: int) -> Iterator[str]:
    """Measure, then yield the lines of a table: medians, spread, and ratios pair by pair."""
    turns = measure(peer, num_pairs)
    head = "batch 12, context 64, 4 layers, width 128"
    yield f"{head:<44} {'ms/step':>8} {'from':>7} {'to':>7} {'tokens/s':>9}"
    for name, done in turns.items():
        seconds = [1000 * turn.seconds for turn in done]
        median = statistics.median(seconds)
        rate = 1000 * TOKENS_PER_STEP / median
        yield f"{name:<44} {median:>8.2f} {min(seconds):>7.2f} {max(seconds):>7.2f} {rate:>9,.0f}"
    yield from _ratio_lines(turns, num_pairs)


def _ratio_lines(turns: Mapping[str, list[Turn]], num_pairs: int) -> Iterator[str]:
    base, *others = turns
    for name in others:
        pairs = list(zip(turns[base], turns[name], strict=True))
        wall = sorted(a.seconds / b.seconds for a, b in pairs)
        cpu = statistics.median(a.cpu_seconds / b.cpu_seconds for a, b in pairs)
        label = f"{name.partition(' (')[0]} against {base.partition(' (')[0]}"
        yield (
            f"{label:<44} {statistics.median(wall):>7.2f}x {wall[0]:>6.2f}x {wall[-1]:>6.2f}x"
            f"  ({num_pairs} pairs; CPU time {cpu:.2f}x)"
        )
