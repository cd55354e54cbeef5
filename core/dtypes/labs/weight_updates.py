"""A weight and its small updates: what is lost when the weight itself is stored in few bits.

Under stochastic rounding each step is wrong, and the mean over many weights is right.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.labs.rounder import scalar_rounder
from core.dtypes.number_formats.format import Format
from core.dtypes.number_formats.table import FORMATS
from core.dtypes.rounding import Floats, Rng, Rounding

NUM_PATHS: Final = 8
SHARES: Final = (0.05, 0.95)  # between these two quantiles lie nine weights of ten


@dataclass(frozen=True, kw_only=True, slots=True)
class WeightUpdates:
    """A weight over the steps of a training.

    Attributes:
        stored: (num_steps + 1,) the weight as stored, the start included.
        master: (num_steps + 1,) its float32 copy, which takes the updates; None without one.
        exact: (num_steps + 1,) the weight without any rounding.
        half_gap: Half the distance from the stored start to the neighbour above: a smaller update
            is rounded away.
        num_lost: Steps that left the stored weight unchanged, although the update was not zero.
    """

    format: str
    stored: Floats
    master: Floats | None
    exact: Floats
    half_gap: float
    num_lost: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StochasticUpdates:
    """Weights that all start alike and take the same updates, each with draws of its own.

    All arrays have num_steps + 1 columns, the start included.

    Attributes:
        paths: (up to 8, num_steps + 1) the first weights as stored.
        mean: Of all weights.
        low: Their 5 % quantile.
        high: Their 95 % quantile.
        nearest: What rounding to nearest, ties to even, makes of every one of them.
        chance: Of the first step to move the weight: update / distance to the neighbour, at most 1.
    """

    format: str
    num_weights: int
    paths: Floats
    mean: Floats
    low: Floats
    high: Floats
    nearest: Floats
    exact: Floats
    chance: float


def weight_updates(  # noqa: PLR0913  the experiment and its conditions
    w0: float,
    update: float,
    num_steps: int,
    fmt: Format,
    rounding: Rounding = "nearest_even",
    *,
    master: bool = False,
    rng: Rng = None,
) -> WeightUpdates:
    """Add the same update to a weight again and again.

    The update is a float32, as optimizers compute it, and is added in float32; only the result is
    stored in the format. With a master copy the float32 result is kept and the stored weight is
    its rounded copy.

    >>> from core.dtypes import FORMATS
    >>> weight_updates(1.0, 1e-3, 1000, FORMATS["bfloat16"]).stored[-1]
    np.float64(1.0)
    """
    round_one = scalar_rounder(fmt, rounding, rng)
    to_float32 = scalar_rounder(FORMATS["float32"])
    added = to_float32(update)
    kept = [to_float32(w0) if master else round_one(w0)]
    stored = [round_one(w0)]
    for _step in range(num_steps):
        taken = to_float32(kept[-1] + added)
        stored.append(round_one(taken))
        kept.append(taken if master else stored[-1])
    weights = np.array(stored)
    return WeightUpdates(
        format=fmt.name,
        stored=weights,
        master=np.array(kept) if master else None,
        exact=w0 + update * np.arange(num_steps + 1, dtype=np.float64),
        half_gap=half_gap_above(fmt, stored[0]),
        num_lost=int((weights[1:] == weights[:-1]).sum()) if update else 0,
    )


def stochastic_updates(
    w0: float,
    update: float,
    num_steps: int,
    fmt: Format,
    num_weights: int,
    rng: np.random.Generator,
) -> StochasticUpdates:
    """Add the same update again and again to many weights that are rounded stochastically."""
    nearest = weight_updates(w0, update, num_steps, fmt)
    # As there: the update is added in float32, and the sum is stored in the format.
    added = np.float32(update)
    weights = np.full(num_weights, nearest.stored[0])
    stored: npt.NDArray[np.float64] = np.empty((num_steps + 1, num_weights))
    stored[0] = weights
    for step in range(1, num_steps + 1):
        weights = fmt.round(weights.astype(np.float32) + added, "stochastic", rng=rng)
        stored[step] = weights
    low, high = np.quantile(stored, SHARES, axis=1)
    return StochasticUpdates(
        format=fmt.name,
        num_weights=num_weights,
        paths=stored[:, :NUM_PATHS].T.copy(),
        mean=stored.mean(axis=1),
        low=low,
        high=high,
        nearest=nearest.stored,
        exact=nearest.exact,
        chance=min(update / (2 * nearest.half_gap), 1.0),
    )


def half_gap_above(fmt: Format, value: float) -> float:
    """Return half the distance from a number, rounded to the format, to the neighbour above it.

    >>> from core.dtypes import FORMATS
    >>> half_gap_above(FORMATS["bfloat16"], 1.0)
    0.00390625
    """
    start = float(fmt.round(value))
    return (float(fmt.round(np.nextafter(start, np.inf), "up")) - start) / 2
