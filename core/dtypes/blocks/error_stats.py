"""How far a restored tensor is from the original, in the numbers that papers quote."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.dtypes.rounding import Flags, Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorStats:
    """The error of a tensor over the values that are finite before and after."""

    num_values: int
    rmse: float  # root mean square error, in the unit of the values
    # signal-to-quantization-noise ratio, 10 log10(sum x^2 / sum error^2); infinite if nothing
    # changed
    sqnr_db: float
    max_abs: float
    max_relative: float
    cosine: float  # cosine of the angle between both tensors; 1 where both are zero
    num_zeroed: int
    num_clipped: int | None  # values beyond the largest code, as far as the caller knew; else None
    num_lost: int  # finite values that came back as NaN or infinity
    num_ignored: int  # values that were not finite to begin with

    @property
    def lost_share(self) -> float:
        """Of the finite values, the share that came back as NaN or infinity."""
        return self.num_lost / max(self.num_values + self.num_lost, 1)

    @property
    def is_whole(self) -> bool:
        """Whether all values came back, and with an error of some size."""
        return not self.num_lost and not self.num_ignored and math.isfinite(self.sqnr_db)

    @property
    def relative_rmse(self) -> float:
        """RMS error / RMS of the values: the SQNR as a share; NaN where nothing is left."""
        return 10 ** (-self.sqnr_db / 20)


def error_stats(
    x: npt.ArrayLike, restored: npt.ArrayLike, clipped: Flags | None = None
) -> ErrorStats:
    """Return the error of `restored` against `x`.

    A value that is NaN or infinite on either side is counted and left out of everything else;
    where nothing is left to compare, the ratios are NaN and the errors 0.
    """
    before, after = np.asarray(x, np.float64), np.asarray(restored, np.float64)
    known = np.isfinite(before)
    kept = known & np.isfinite(after)
    signal, value = before[kept], after[kept]
    error = np.abs(value - signal)
    # Not error @ error: a threaded dot product wakes its threads, and rounds by their number.
    noise, power = float(np.sum(error**2)), float(np.sum(signal**2))
    return ErrorStats(
        num_values=signal.size,
        rmse=math.sqrt(noise / max(signal.size, 1)),
        sqnr_db=_decibels(power, noise) if signal.size else math.nan,
        max_abs=float(error.max(initial=0)),
        max_relative=float((error[signal != 0] / np.abs(signal[signal != 0])).max(initial=0)),
        cosine=_cosine(signal, value, power) if signal.size else math.nan,
        num_zeroed=int(((signal != 0) & (value == 0)).sum()),
        num_clipped=None if clipped is None else int(clipped.sum()),
        num_lost=int(known.sum()) - signal.size,
        num_ignored=int(known.size - known.sum()),
    )


def _decibels(power: float, noise: float) -> float:
    if noise == 0:
        return math.inf
    return 10 * math.log10(power / noise) if power else -math.inf


def _cosine(signal: Floats, value: Floats, power: float) -> float:
    length = math.sqrt(power * float(np.sum(value**2)))
    if length == 0:
        return 1.0 if power == 0 and not value.any() else 0.0
    return float(np.sum(signal * value)) / length
