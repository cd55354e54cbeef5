"""A matrix product timed on this machine, in a fresh child process; never imports torch here."""

import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from core.language import _
from core.machine.child import lines_of

CallKind = Literal["first", "not waiting", "waiting"]
CALLS: Final[tuple[CallKind, ...]] = ("first", "not waiting", "waiting")
TIMED_DTYPES: Final = ("float32", "bfloat16", "float16")
TIMING_SECONDS: Final = 180
MIN_SIZE, MAX_SIZE = 16, 8192
_MOST_FLOPS: Final = 1e12  # of all calls of a kind: some seconds on a laptop
_MOST_RUNS: Final = 9


@dataclass(frozen=True, kw_only=True, slots=True)
class MatmulCall:
    """One call of a product."""

    kind: CallKind
    seconds: float
    device: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MatmulTiming:
    """All calls of one product of square matrices."""

    size: int
    dtype: str
    calls: tuple[MatmulCall, ...]

    @property
    def flops(self) -> int:
        """FLOPs of one call: 2 size**3."""
        return 2 * self.size**3

    @property
    def device(self) -> str:
        """Where it ran."""
        return self.calls[0].device

    def seconds(self, kind: CallKind) -> float:
        """Return the median of the calls of a kind."""
        return statistics.median(self._seconds_of(kind))

    def spread(self, kind: CallKind) -> tuple[float, float]:
        """Return the shortest and the longest call of a kind."""
        seconds = self._seconds_of(kind)
        return min(seconds), max(seconds)

    def flops_per_second(self, kind: CallKind) -> float:
        """Return what the median of the calls of a kind makes of it."""
        return self.flops / self.seconds(kind)

    def _seconds_of(self, kind: CallKind) -> Sequence[float]:
        return [call.seconds for call in self.calls if call.kind == kind]


def num_runs(size: int) -> int:
    """Return how many calls of each kind are made: fewer of a large product.

    >>> num_runs(1024), num_runs(4096)
    (9, 7)
    """
    return max(3, min(_MOST_RUNS, int(_MOST_FLOPS / (2 * size**3))))


def time_matmul(
    size: int, dtype: str, on_call: Callable[[MatmulCall], None] = lambda _call: None
) -> MatmulTiming:
    """Time a product of two square matrices here, `on_call` after each call.

    Raises:
        ValueError: If size or dtype is not one that is timed, or the child process failed.
    """
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise ValueError(
            _("{name} is {value}; it must lie between {low} and {high}.").format(
                name="size", value=size, low=MIN_SIZE, high=f"{MAX_SIZE:,}"
            )
        )
    calls = []
    arguments = [str(size), dtype, str(num_runs(size))]
    for line in lines_of("core.machine.matmul_trial", arguments, seconds=TIMING_SECONDS):
        calls.append(MatmulCall(**json.loads(line)))
        on_call(calls[-1])
    return MatmulTiming(size=size, dtype=dtype, calls=tuple(calls))
