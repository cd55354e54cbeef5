"""What a race has shown so far, read from its process or from the recording of a preset."""

import json
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from core.machine.child import lines_of
from core.train.recipes.choices import PRESETS, Comparison, Gap

RECORDING: Final = Path(__file__).parents[1] / "recordings" / "recipes.json"
_SECONDS: Final = 1800.0  # after which a race is ended, on however busy a machine


@dataclass(kw_only=True, slots=True)
class Result:
    """One recipe so far.

    Attributes:
        losses: Of each step, in nats per token.
        validation: After each turn, over the same sequences for every recipe.
        seconds: Of each turn, this recipe's own steps only.
        memory: Bytes by category while a step ran; empty until they are measured.
        lost: After each turn the share of weights whose update was below half an ulp.
        tensor: Where the first number was not finite, which ended the recipe; "" if all are.
    """

    losses: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    memory: dict[str, Any] = field(default_factory=dict)
    lost: list[float | None] = field(default_factory=list)
    tensor: str = ""

    def add(self, line: Mapping[str, Any]) -> None:
        """Take in a line of the race's process."""
        if "memory" in line:
            self.memory = dict(line["memory"])
            return
        self.losses += line["losses"]
        self.seconds.append(line["seconds"])
        self.tensor = line["tensor"]
        if "validation" in line:
            self.validation.append(line["validation"])
            self.lost.append(line["lost"])

    @property
    def num_steps(self) -> int:
        """Steps that are done."""
        return len(self.losses)

    @property
    def last(self) -> float:
        """Validation loss after the last turn; infinite where a number was not finite."""
        return math.inf if self.tensor or not self.validation else self.validation[-1]

    @property
    def total_seconds(self) -> float:
        """Of this recipe's own turns."""
        return sum(self.seconds)

    @property
    def peak(self) -> int:
        """The most bytes that all tensors of the recipe held at one time."""
        return int(self.memory.get("peak", 0))

    def held(self, category: str) -> int:
        """Return the bytes of a category, such as "activations"."""
        return int(self.memory.get(category, 0))


Results = Sequence[Result]


def run_race(comparison: Comparison, *, threads: int = 0) -> Generator[Results, None, None]:
    """Race in a fresh process; yield the same results again whenever they have grown.

    Closing the iterator ends the process.

    Raises:
        ValueError: If the process failed, or a run holds the CPU.
    """
    results = [Result() for _value in comparison.values]
    arguments = [json.dumps(asdict(comparison)), *([str(threads)] if threads else [])]
    for text in lines_of("core.train.recipes.race", arguments, seconds=_SECONDS):
        line = json.loads(text)
        results[line["recipe"]].add(line)
        yield results


def gap(results: Results, what: Gap) -> float:
    """Return by how much the last recipe differs from the first in what a preset is about."""
    first, last = results[0], results[-1]
    match what:
        case "loss":
            return last.last - first.last
        case "finite":
            return float(bool(last.tensor)) - float(bool(first.tensor))
        case _:
            return float(last.held(what) - first.held(what))


@cache
def recorded() -> Mapping[str, tuple[Result, ...]]:
    """Return the results that come with the app, by preset."""
    kept = json.loads(RECORDING.read_text(encoding="utf-8"))["presets"]
    return {key: tuple(Result(**each) for each in kept[key]) for key in PRESETS if key in kept}
