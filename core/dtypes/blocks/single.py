"""The float32 arithmetic of quantizers, in which their codes are bit-identical to libraries'."""

import numpy as np
import numpy.typing as npt

from core.dtypes.rounding import Floats


def to_single(numbers: npt.ArrayLike) -> Floats:
    """Return numbers rounded to float32, held as float64; one beyond float32 stays as it is."""
    wide = np.asarray(numbers, dtype=np.float64)
    with np.errstate(over="ignore"):
        single = wide.astype(np.float32).astype(np.float64)
    return np.where(np.isinf(single), wide, single)


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """Return a quotient as float32 division gives it; 0 where the denominator is 0.

    A scale of zero has nothing but zeros under it. Where float32 would overflow (the inverse of a
    subnormal scale) the quotient keeps the range of float64.
    """
    over, under = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    quotient = over / np.where(under == 0, 1.0, under)
    return np.where(under == 0, 0.0, to_single(quotient))
