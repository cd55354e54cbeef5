"""Stochastic rounding, drawn many times: how often each neighbour, and where the mean goes."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.cast.explain_cast import explain_cast
from core.dtypes.number_formats.format import Format
from core.dtypes.rounding import Overflow

MAX_DRAWS: Final = 100_000
MAX_POINTS: Final = 300  # of the running mean, evenly spaced in its logarithm


@dataclass(frozen=True, kw_only=True, slots=True)
class Draws:
    """Many stochastic roundings of one number.

    Attributes:
        near: What is stored when the draw keeps the neighbour towards zero.
        away: What is stored when it goes to the other one.
        chance: The probability of `away`: the part of the distance that is cut off.
        num_near: How often `near` was stored.
        num_away: How often `away` was.
        sizes: After how many draws the running mean was taken.
        means: The running mean there; not finite once a stored number is not.
    """

    near: float
    away: float
    chance: Fraction
    num_near: int
    num_away: int
    sizes: tuple[int, ...]
    means: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean of all draws."""
        return self.means[-1]

    @property
    def is_settled(self) -> bool:
        """Whether every draw stores the same: nothing is cut off, or both ways lead to one code."""
        return str(self.near) == str(self.away)


def first_chance(seed: int) -> float:
    """Return the first number that a seed draws from [0, 1)."""
    return float(np.random.default_rng(seed).random())


def draw_roundings(
    fmt: Format,
    value: Fraction | float,
    num_draws: int,
    seed: int,
    overflow: Overflow = "default",
) -> Draws:
    """Round one number stochastically again and again.

    Args:
        fmt: The format.
        value: The number.
        num_draws: 1 to 100,000.
        seed: Of the draws; the first of them is `first_chance`.
        overflow: One of `OVERFLOWS`.

    Raises:
        ValueError: If the number of draws is out of range.
    """
    if not 1 <= num_draws <= MAX_DRAWS:
        raise ValueError(f"{num_draws} draws are out of range: use 1 to {MAX_DRAWS}")
    near = explain_cast(fmt, value, "stochastic", overflow, chance=1.0)
    away = explain_cast(fmt, value, "stochastic", overflow, chance=0.0)
    chance = near.cut if near.kept else near.share  # of a codebook's upper neighbour
    is_away = np.random.default_rng(seed).random(num_draws) < float(chance)
    sizes = np.unique(np.geomspace(1, num_draws, MAX_POINTS).astype(np.int64))
    counts = np.cumsum(is_away)[sizes - 1]
    return Draws(
        near=near.result,
        away=away.result,
        chance=chance,
        num_near=int(num_draws - is_away.sum()),
        num_away=int(is_away.sum()),
        sizes=tuple(sizes.tolist()),
        means=tuple(_means(near.result, away.result, counts / sizes).tolist()),
    )


def _means(near: float, away: float, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the mean of draws of which `shares` went away; one infinite draw makes it infinite."""
    with np.errstate(invalid="ignore"):
        means = near + shares * (away - near)
    means[shares == 0] = near
    if not np.isfinite(away):
        means[shares > 0] = away
    return means
