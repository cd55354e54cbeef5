"""How a number between two neighbours is rounded, and what becomes of one beyond the largest."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

Rounding = Literal["nearest_even", "nearest_away", "toward_zero", "up", "down", "stochastic"]
Overflow = Literal["default", "saturate", "infinity", "nan"]
ROUNDINGS: Final[tuple[Rounding, ...]] = get_args(Rounding)
OVERFLOWS: Final[tuple[Overflow, ...]] = get_args(Overflow)

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Rng = np.random.Generator | None  # only stochastic rounding needs one


def check_policy(rounding: str, overflow: str) -> None:
    """Refuse a policy that does not exist.

    Raises:
        ValueError: If a name is unknown.
    """
    if rounding not in ROUNDINGS:
        raise ValueError(f"rounding {rounding!r} is not known; use one of: {', '.join(ROUNDINGS)}")
    if overflow not in OVERFLOWS:
        raise ValueError(f"overflow {overflow!r} is not known; use one of: {', '.join(OVERFLOWS)}")


def chances(rng: Rng, shape: tuple[int, ...]) -> Floats:
    """Return one draw from [0, 1) for each number that is rounded stochastically.

    Raises:
        ValueError: If there is no source of randomness.
    """
    if rng is None:
        raise ValueError("stochastic rounding needs rng=numpy.random.default_rng(seed)")
    return rng.random(shape)


def round_magnitudes(
    scaled: Floats, negative: Flags, rounding: Rounding, rng: Rng = None
) -> Floats:
    """Round magnitudes, measured in units in the last place, to whole numbers; in place.

    Args:
        scaled: |x| / ulp, below 2**53, so that its fraction is exact in float64.
        negative: Whether x is below zero: "up" and "down" look at the signed number.
        rounding: One of `ROUNDINGS`.
        rng: The source of randomness of "stochastic".

    Raises:
        ValueError: If "stochastic" has none.
    """
    if rounding == "stochastic":
        # P(up) is the distance from the lower neighbour, so the mean is the number itself.
        whole = np.floor(scaled)
        return whole + (chances(rng, scaled.shape) < scaled - whole)
    return _WHOLE[rounding](scaled, negative)


def _nearest_away(scaled: Floats, _negative: Flags) -> Floats:
    # floor(s + 0.5) would round twice just below a tie; the fraction itself is exact.
    whole = np.floor(scaled)
    return whole + (scaled - whole >= 0.5)


_WHOLE: Final[Mapping[str, Callable[[Floats, Flags], Floats]]] = {
    "nearest_even": lambda scaled, _: np.rint(scaled, out=scaled),
    "nearest_away": _nearest_away,
    "toward_zero": lambda scaled, _: np.floor(scaled, out=scaled),
    "up": lambda scaled, negative: np.where(negative, np.floor(scaled), np.ceil(scaled)),
    "down": lambda scaled, negative: np.where(negative, np.ceil(scaled), np.floor(scaled)),
}


def stops_at_the_largest(rounding: Rounding, negative: Flags) -> Flags:
    """Return where an overflow ends at the largest finite number instead of infinity.

    Source: IEEE 754-2019, section 7.4: a directed rounding carries an overflow only in its own
    direction.
    """
    if rounding == "toward_zero":
        return np.ones_like(negative)
    if rounding == "up":
        return negative
    if rounding == "down":
        return ~negative
    return np.zeros_like(negative)
