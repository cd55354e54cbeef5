"""Sums in a number format: where a running sum stops growing, and what another order saves."""

import itertools
import math
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from core.dtypes.labs.rounder import scalar_rounder
from core.dtypes.number_formats.format import Format
from core.dtypes.rounding import Floats, Rng, Rounding

Order = Literal["sequential", "pairwise", "float32_then_cast"]
ORDERS: Final[tuple[Order, ...]] = get_args(Order)
_PAIRWISE_POINTS: Final = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Accumulation:
    """A sum as it grows.

    Attributes:
        counts: How many values each of the `sums` holds, rising.
        sums: The sum as stored, after `counts` values.
        reference: The same sums of the values as given, in float64.
        exact: The sum of all values as given, rounded once.
        stalls_after: After how many values the sum never changed again, although values other than
            zero still came; None if it grew to the end, if the order has no running sum, or if
            chance rounds: then the next value may move it.
    """

    format: str
    counts: npt.NDArray[np.int64]
    sums: Floats
    reference: Floats
    exact: float
    stalls_after: int | None

    @property
    def result(self) -> float:
        """The sum of all values, as stored."""
        return float(self.sums[-1])


def accumulate(
    values: npt.ArrayLike,
    fmt: Format,
    rounding: Rounding = "nearest_even",
    order: Order = "sequential",
    rng: Rng = None,
) -> Accumulation:
    """Add up values, one at least, that are stored in a format, every partial sum stored in it too.

    "sequential" adds one by one, as a loop does; "pairwise" adds neighbours, then their sums, and
    so on; "float32_then_cast" adds one by one in float32 and rounds at the end, as `torch.sum` does
    for 16-bit tensors.

    Two numbers of a format with p bits are added in float64 (53 bits) and rounded again; for
    p <= 25 this is the same as rounding the exact sum once (Figueroa 1995).

    >>> from core.dtypes import FORMATS
    >>> accumulate([1.0] * 1000, FORMATS["bfloat16"]).result
    256.0
    """
    given = np.asarray(values, dtype=np.float64).reshape(-1)
    stored = fmt.round(given, rounding, rng=rng)
    counts, stall = np.arange(1, given.size + 1), None
    if order == "sequential":
        round_one = scalar_rounder(fmt, rounding, rng)
        sums = np.array(list(itertools.accumulate(stored.tolist(), lambda s, v: round_one(s + v))))
        stall = _stall(stored, sums) if rounding != "stochastic" else None
    elif order == "float32_then_cast":
        with np.errstate(over="ignore"):
            wide = np.cumsum(stored.astype(np.float32), dtype=np.float32)
        sums = fmt.round(wide, rounding, rng=rng)
    else:
        counts = np.unique(np.geomspace(1, given.size, _PAIRWISE_POINTS).round().astype(np.int64))
        sums = np.array([_pairwise(stored[:count], fmt, rounding, rng) for count in counts])
    return Accumulation(
        format=fmt.name,
        counts=counts,
        sums=sums,
        reference=np.cumsum(given)[counts - 1],
        exact=math.fsum(given),
        stalls_after=stall,
    )


def _pairwise(values: Floats, fmt: Format, rounding: Rounding, rng: Rng) -> float:
    while values.size > 1:
        even = values.size // 2 * 2
        pairs = fmt.round(values[:even:2] + values[1:even:2], rounding, rng=rng)
        values = np.concatenate([pairs, values[even:]])
    return float(values[0])


def _stall(stored: Floats, sums: Floats) -> int | None:
    last_change = np.flatnonzero(sums[1:] != sums[:-1])  # NaN differs from itself: it never stalls
    count = int(last_change[-1]) + 2 if last_change.size else 1
    return count if stored[count:].any() else None
