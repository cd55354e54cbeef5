"""What measuring a step gives: plain data that a child process writes and a page reads."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

from core.train.profiler.trace import PHASES

PARTS: Final = (*PHASES, "other")
RECORDED: Final = Path(__file__).parents[1] / "recordings" / "profiler"


class Moment(NamedTuple):
    """Bytes in use after an operation; `place` counts those of the measured step."""

    place: float
    phase: str
    op: str
    num_bytes: int


class TensorRow(NamedTuple):
    """One weight at its next step: root mean squares, and how its update fits its format."""

    name: str
    dtype: str
    size: int
    weight: float
    gradient: float
    update: float
    below_half: float
    unmoved: float
    non_finite: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Where:
    """What was measured, and on what; `date` is that of a recording, "" if measured here."""

    step: int
    precision: str
    optimizer: str
    device_name: str
    threads: int
    num_params: int
    date: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Anatomy:
    """A step taken apart.

    Attributes:
        parts: Seconds of each of `PARTS` in each step; on a GPU each part is waited for.
        as_trained: Seconds of steps in between, which nobody took apart.
        measured, simulated: The memory along one step: of real tensors, and of the same step on
            tensors without data.
        flops: Of the step's matrix products and attention, counted.
        peak_flops_per_second: Of a large product in the step's number format, measured just before.
        spans: Share of the time by `trace.BOUNDS`, of profiled steps.
        num_calls, num_small: Operators of a step, and those with under 10 us of their own.
    """

    where: Where
    parts: Mapping[str, Sequence[float]]
    as_trained: Sequence[float]
    measured: Sequence[Moment]
    simulated: Sequence[Moment]
    flops: float
    peak_flops_per_second: float
    spans: Mapping[str, float]
    num_calls: float
    num_small: float

    def seconds(self, part: str = "") -> float:
        """Return the median of a part; without a name the sum of all: the step."""
        return sum(median(self.parts[each]) for each in ((part,) if part else PARTS))


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Seconds of a step done in two ways, in turns; `ready` is what the second took at first."""

    where: Where
    kind: str
    first: Sequence[float]
    second: Sequence[float]
    ready: float = 0.0

    @property
    def ratio(self) -> float:
        """Return how many times as long the first takes: the median of the turns."""
        return median(a / b for a, b in zip(self.first, self.second, strict=True))


@dataclass(frozen=True, kw_only=True, slots=True)
class Histogram:
    """How many numbers lie between a power of two and the next; `counts[i]` from 2**(low + i)."""

    low: int
    counts: Sequence[int]
    zeros: int
    non_finite: int

    @property
    def total(self) -> int:
        """All numbers, zeros and what is not finite included."""
        return sum(self.counts) + self.zeros + self.non_finite

    def below(self, exponent: int) -> int:
        """Return how many are smaller than 2**exponent, zeros apart."""
        return sum(self.counts[: max(exponent - self.low, 0)])


@dataclass(frozen=True, kw_only=True, slots=True)
class Numbers:
    """Weights, gradients and updates of one step.

    Attributes:
        dtype: Of most weights.
        below_half: Share of the updates, zeros included, under half an ulp: under half the distance
            to the weight's neighbour in its own format, so that the nearest number is the old one.
        unmoved: Share of the weights that had the same value after the step.
        moved: Whether the optimizer took the step at all; it does not where a number is not finite.
    """

    where: Where
    dtype: str
    weights: Histogram
    gradients: Histogram
    updates: Histogram
    below_half: float
    unmoved: float
    moved: bool
    tensors: Sequence[TensorRow]


@dataclass(frozen=True, kw_only=True, slots=True)
class Traced:
    """The trace of profiled steps, as JSON in gzip."""

    where: Where
    trace: bytes


Result = Anatomy | Pair | Numbers | Traced
_KINDS: Final[Mapping[str, type[Any]]] = {
    "anatomy": Anatomy, "item": Pair, "compile": Pair, "operators": Traced, "numbers": Numbers,
}  # fmt: skip
_FIELDS: Final[Mapping[str, Any]] = {
    "where": lambda data: Where(**data),
    **dict.fromkeys(("weights", "gradients", "updates"), lambda data: Histogram(**data)),
    **dict.fromkeys(("measured", "simulated"), lambda rows: [Moment(*row) for row in rows]),
    "tensors": lambda rows: [TensorRow(*row) for row in rows],
}


def write_result(name: str, result: Result, folder: Path) -> None:
    """Write a result as JSON under a name; a trace becomes a file beside it."""
    data = asdict(result)
    if trace := data.pop("trace", b""):
        (folder / f"{name}.trace.json.gz").write_bytes(trace)
    text = json.dumps(data, separators=(",", ":"))
    (folder / f"{name}.json").write_text(text, encoding="utf-8")


def read_result(what: str, folder: Path, name: str = "") -> Any:  # noqa: ANN401  by `what`
    """Return the result of `what` that lies in a folder, under its own name or another."""
    path = folder / f"{name or what}.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data = {key: _FIELDS.get(key, lambda it: it)(value) for key, value in data.items()}
    if what == "operators":
        data["trace"] = path.with_suffix(".trace.json.gz").read_bytes()
    return _KINDS[what](**data)


@cache
def recorded(what: str, size: str, precision: str) -> Any:  # noqa: ANN401  as `read_result` gives
    """Return what was measured on another machine; None where nothing was recorded."""
    name = f"{what}-{size}-{precision}"
    return read_result(what, RECORDED, name) if (RECORDED / f"{name}.json").exists() else None
