"""A matrix product timed on this machine, in a fresh child process, which alone needs torch.

`python -m core.machine.matmul_timing 2048 float32 9` times a product as one should, and as one
should not: it prints one line of JSON for each call: the first one, calls that the clock does not
wait for, and calls that it waits for. An accelerator takes a call and answers at once; only the
wait shows how long the product takes.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
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
        return 2 * self.size**3 / self.seconds(kind)

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
    for line in lines_of("core.machine.matmul_timing", arguments, seconds=TIMING_SECONDS):
        calls.append(MatmulCall(**json.loads(line)))
        on_call(calls[-1])
    return MatmulTiming(size=size, dtype=dtype, calls=tuple(calls))


def trial(size: int, dtype: str, num_runs: int) -> Iterator[MatmulCall]:
    """Yield the calls as they are timed, on the first accelerator, else on the CPU.

    Raises:
        ValueError: If the dtype is not one that is timed.
    """
    import torch

    if dtype not in TIMED_DTYPES:
        raise ValueError(f"dtype {dtype!r} is not timed; use one of: {', '.join(TIMED_DTYPES)}")
    found = torch.accelerator.current_accelerator()
    device = found.type if found is not None and torch.accelerator.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else device
    a = torch.randn(size, size, device=device).to(getattr(torch, dtype))
    b = torch.randn(size, size, device=device).to(getattr(torch, dtype))

    def wait() -> None:
        if device != "cpu":
            torch.accelerator.synchronize()

    def act() -> object:
        return a @ b

    for kind in CALLS:
        for _run in range(1 if kind == "first" else num_runs):
            wait()
            seconds = seconds_of(act, wait if kind != "not waiting" else None)
            yield MatmulCall(kind=kind, seconds=seconds, device=name)
        wait()


def seconds_of(act: Callable[[], object], wait: Callable[[], None] | None) -> float:
    """Return how long an act takes, and what one waits for it."""
    start = time.perf_counter()
    act()
    if wait is not None:
        wait()
    return time.perf_counter() - start


def _main(arguments: list[str]) -> None:
    size, dtype, num_runs = int(arguments[0]), arguments[1], int(arguments[2])
    for call in trial(size, dtype, num_runs):
        sys.stdout.write(json.dumps(asdict(call)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main(sys.argv[1:])
