"""What it costs to walk a tensor: memory comes in cache lines, not in elements.

The model counts lines (CPU) and sectors (GPU) from shape and strides; the experiment measures on
this machine that lines are what is paid for.
"""

import json
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from core.language import _
from core.machine.child import lines_of
from core.tensors.layout import LINE_BYTES, Layout

SECTOR_BYTES: Final = 32  # what a GPU fetches at least (CUDA C++ Programming Guide, global memory)
WARP_THREADS: Final = 32
STRIDES: Final = (1, 2, 4, 8, 16, 32, 64)
FOOTPRINT_BYTES: Final = 64 * 2**20  # larger than the caches of most CPUs
SUMMED_ITEMSIZE: Final = 4  # float32
NUM_ROUNDS: Final = 30
TRIAL_SECONDS: Final = 120.0
_MOST_BYTES: Final = 2**30
_MOST_ROUNDS: Final = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessCost:
    """How a CPU meets the elements of a tensor, in the tensor's own order.

    Attributes:
        num_elements: That are read.
        num_bytes: Of these elements, each counted as often as it is read.
        lines_touched: Different cache lines that hold them: what a large cache fetches.
        line_changes: How often the walk enters another line: what a tiny cache would fetch.
    """

    num_elements: int
    num_bytes: int
    lines_touched: int
    line_changes: int

    @property
    def fetched_bytes(self) -> int:
        """Of all lines that are touched."""
        return self.lines_touched * LINE_BYTES

    @property
    def elements_per_line(self) -> float:
        """How many elements a fetched line gives, on average; 0 of an empty tensor."""
        return self.num_elements / self.lines_touched if self.lines_touched else 0.0

    @property
    def elements_per_change(self) -> float:
        """How many elements follow each other in one line, on average; 0 of an empty tensor."""
        return self.num_elements / self.line_changes if self.line_changes else 0.0


def access_cost(x: Layout) -> AccessCost:
    """Count the lines that a walk through a tensor needs, its storage beginning with a line.

    Raises:
        ValueError: If there are more than 65,536 elements.
    """
    return AccessCost(
        num_elements=x.numel,
        num_bytes=x.num_bytes,
        lines_touched=x.lines_touched(),
        line_changes=x.line_changes(),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class WarpAccess:
    """What the threads of a GPU ask for at once, thread i of a warp the i-th element of its 32.

    Attributes:
        sectors: For each warp, the different sectors of 32 bytes that it needs.
        ideal: For each warp, as many as its different elements would fill side by side.
    """

    sectors: tuple[int, ...]
    ideal: tuple[int, ...]

    @property
    def efficiency(self) -> float:
        """Share of the fetched bytes that would do; 1 if nothing is fetched."""
        return sum(self.ideal) / sum(self.sectors) if self.sectors else 1.0


def sectors_per_warp(x: Layout) -> WarpAccess:
    """Return the sectors for each 32 elements that follow each other in the tensor's order.

    The storage begins with a sector; elements have at most 32 bytes. (The usual model of coalesced
    access; caches between warps are left out.)

    Raises:
        ValueError: If there are more than 65,536 elements.
    """
    first = x.addresses().reshape(-1) * x.itemsize
    warps = [first[start : start + WARP_THREADS] for start in range(0, x.numel, WARP_THREADS)]
    return WarpAccess(
        sectors=tuple(len(np.unique(warp // SECTOR_BYTES)) for warp in warps),
        ideal=tuple(math.ceil(len(np.unique(warp)) * x.itemsize / SECTOR_BYTES) for warp in warps),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class StridedSum:
    """`buf[::stride].sum()` of a float32 buffer, timed several times.

    Attributes:
        stride: In elements.
        num_bytes: Of the whole buffer: the same for every stride.
        seconds: Of each call.
    """

    stride: int
    num_bytes: int
    seconds: tuple[float, ...]

    @property
    def num_elements(self) -> int:
        """That are summed."""
        return -(-self.num_bytes // SUMMED_ITEMSIZE // self.stride)

    @property
    def num_lines(self) -> int:
        """Cache lines that hold one of them: all, until the stride is longer than a line."""
        return min(-(-self.num_bytes // LINE_BYTES), self.num_elements)

    @property
    def median(self) -> float:
        """Seconds of the call in the middle."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> tuple[float, float]:
        """The shortest and the longest call, in seconds."""
        return min(self.seconds), max(self.seconds)

    @property
    def seconds_per_element(self) -> float:
        """Of the median."""
        return self.median / self.num_elements

    @property
    def seconds_per_line(self) -> float:
        """Of the median."""
        return self.median / self.num_lines


def measure_strided_sums(
    on_progress: Callable[[float], None] = lambda _share: None,
    *,
    strides: Sequence[int] = STRIDES,
    num_bytes: int = FOOTPRINT_BYTES,
    num_rounds: int = NUM_ROUNDS,
) -> tuple[StridedSum, ...]:
    """Sum every s-th element of one buffer, on one thread of a fresh process.

    The footprint is the same for every stride: only the number of elements falls. With a fixed
    number of elements the buffer would grow out of the caches, and that would be measured.

    Args:
        on_progress: Called after each call with the share that is done, 0 to 1.
        strides: In elements, ascending.
        num_bytes: Of the buffer; whole cache lines.
        num_rounds: Each stride is timed once a round, so that a busy moment meets all alike.

    Raises:
        ValueError: If an argument is out of range, or the process failed.
    """
    _check(strides, num_bytes, num_rounds)
    seconds: dict[int, list[float]] = {stride: [] for stride in strides}
    arguments = [str(num_bytes), str(num_rounds), *map(str, strides)]
    for number, line in enumerate(
        lines_of("core.tensors.strided_trial", arguments, seconds=TRIAL_SECONDS), start=1
    ):
        told = json.loads(line)
        seconds[told["stride"]].append(told["seconds"])
        on_progress(number / (num_rounds * len(strides)))
    return tuple(
        StridedSum(stride=stride, num_bytes=num_bytes, seconds=tuple(times))
        for stride, times in seconds.items()
    )


def _check(strides: Sequence[int], num_bytes: int, num_rounds: int) -> None:
    if not strides or list(strides) != sorted(set(strides)) or strides[0] < 1:
        message = _("The strides are {strides}; they must be at least 1, in ascending order.")
        raise ValueError(message.format(strides=_(", ").join(map(str, strides)) or "-"))
    if num_bytes % LINE_BYTES or not LINE_BYTES <= num_bytes <= _MOST_BYTES:
        message = _(
            "The buffer has {count} bytes; it must be a multiple of {line}, at most {limit}."
        )
        words = {"count": f"{num_bytes:,}", "line": LINE_BYTES, "limit": f"{_MOST_BYTES:,}"}
        raise ValueError(message.format(**words))
    if not 1 <= num_rounds <= _MOST_ROUNDS:
        message = _("{name} is {value}; it must lie between {low} and {high}.")
        words = {"name": "num_rounds", "value": num_rounds, "low": 1, "high": _MOST_ROUNDS}
        raise ValueError(message.format(**words))
