"""Many weights under stochastic rounding: each step is wrong, the mean is right."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.format import Format
from core.dtypes.labs.weight_updates import half_gap_above, weight_updates
from core.dtypes.rounding import Floats
from core.language import _

NUM_PATHS: Final = 8
SHARES: Final = (0.05, 0.95)  # between these two quantiles lie nine weights of ten


@dataclass(frozen=True, kw_only=True, slots=True)
class StochasticUpdates:
    """Weights that all start alike and take the same updates, each with draws of its own.

    All arrays have num_steps + 1 columns, the start included.

    Attributes:
        format: Name of the format of the stored weights.
        num_weights: How many.
        paths: (up to 8, num_steps + 1) the first weights as stored.
        mean: Of all weights.
        low: Their 5 % quantile.
        high: Their 95 % quantile.
        nearest: What rounding to nearest, ties to even, makes of every one of them.
        exact: The weight without any rounding.
        chance: Of the first step to move the weight: update / distance to the neighbour, at most 1.
        standard_error: How far the mean at the end typically lies from the truth.
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
    standard_error: float


def stochastic_updates(
    w0: float,
    update: float,
    num_steps: int,
    fmt: Format,
    num_weights: int,
    rng: np.random.Generator,
) -> StochasticUpdates:
    """Add the same update again and again to many weights that are rounded stochastically.

    Raises:
        ValueError: If there are no steps or no weights, or a number is not finite.
    """
    if num_weights < 1:
        raise ValueError(_("{count} weights: use 1 or more.").format(count=num_weights))
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
    gap = 2 * half_gap_above(fmt, w0, below=update < 0)
    return StochasticUpdates(
        format=fmt.name,
        num_weights=num_weights,
        paths=stored[:, :NUM_PATHS].T.copy(),
        mean=stored.mean(axis=1),
        low=low,
        high=high,
        nearest=nearest.stored,
        exact=nearest.exact,
        chance=min(abs(update) / gap, 1.0),
        standard_error=float(stored[-1].std() / num_weights**0.5),
    )
