"""One number at a time, fast: a loop that needs the last result cannot round a whole array.

`Format.round` costs tens of microseconds a call, whatever the size. The path here gives the same
numbers in one microsecond; the tests compare them.
"""

import itertools
import math
import sys
from collections.abc import Callable
from typing import Final

from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format
from core.dtypes.rounding import Rng, Rounding, chances

Rounder = Callable[[float], float]
_DRAWS: Final = 1024


def scalar_rounder(fmt: Format, rounding: Rounding = "nearest_even", rng: Rng = None) -> Rounder:
    """Return a function that stores one float64 in the format and reads it back.

    It is fast to nearest even and by chance.

    Raises:
        ValueError: If the rounding is unknown, or stochastic without `rng`.
    """
    fmt.round(1.0, rounding, rng=rng)  # refuses what it cannot do before the loop begins
    is_quick = rounding in ("nearest_even", "stochastic")
    if not (is_quick and isinstance(fmt, FloatFormat) and fmt.signed and fmt.zero):
        return lambda value: float(fmt.round(value, rounding, rng=rng))
    whole: Rounder = round if rounding == "nearest_even" else _by_chance(rng)
    beyond = _beyond(fmt, rounding, rng)
    lowest, mantissa_bits, most = fmt.min_exponent, fmt.mantissa_bits, fmt.max
    smallest = 0.0 if fmt.subnormals else fmt.smallest_normal

    def round_one(value: float) -> float:
        if not math.isfinite(value):
            return beyond(value)
        exponent = max(math.frexp(value)[1] - 1, lowest)
        # Exact twice: the scaling by powers of two, and the way back unless it overflows.
        steps = whole(math.ldexp(value, mantissa_bits - exponent))
        magnitude = abs(steps) * 2.0 ** (exponent - mantissa_bits)
        if magnitude > most:
            return beyond(value)
        return math.copysign(magnitude if magnitude >= smallest else 0.0, value)

    return round_one


def _by_chance(rng: Rng) -> Rounder:
    draws = itertools.chain.from_iterable(
        chances(rng, (_DRAWS,)).tolist() for _forever in itertools.count()
    )
    return lambda scaled: math.floor(scaled) + (next(draws) < scaled - math.floor(scaled))


def _beyond(fmt: FloatFormat, rounding: Rounding, rng: Rng) -> Rounder:
    """Return what becomes of infinities, of NaN and of finite numbers that are too large."""
    largest = sys.float_info.max
    kept = {
        value: float(fmt.round(value, rounding, rng=rng))
        for value in (math.inf, -math.inf, largest, -largest)
    }
    nan = float(fmt.round(math.nan, rounding, rng=rng))

    def special(value: float) -> float:
        if math.isnan(value):
            return nan
        return kept[value] if math.isinf(value) else kept[math.copysign(largest, value)]

    return special
