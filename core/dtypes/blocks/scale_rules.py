"""Which power of two the values of an MX block share: four rules, and what each gives up."""

from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from core.dtypes.facts.number_line import finite_values
from core.dtypes.number_formats.format import Format
from core.dtypes.rounding import Floats

ScaleRule = Literal["floor", "ceil", "even", "rceil", "amax"]
SCALE_RULES: Final[tuple[ScaleRule, ...]] = ("floor", "ceil", "even", "rceil")

_LOWEST, _HIGHEST = -127, 127  # what E8M0 can say
_BEYOND: Final = 2.0**128  # an infinity counts as the power of two after float32's last


def shared_exponents(amax: Floats, element: Format, rule: ScaleRule) -> npt.NDArray[np.int64]:
    """Return log2 of the scale that each block shares, as far as E8M0 reaches: -127 to 127.

    floor: the largest element becomes at most the last binade of the element format; a value in
        the upper part of that binade is clipped (OCP Microscaling v1.0, section 6.3).
    ceil: one more unless the largest magnitude is a power of two: clips nothing, wastes a bit.
    even: as floor, but of the largest magnitude rounded to the element's mantissa.
    rceil: the smallest power of two under which the largest magnitude still fits (NVIDIA cuBLAS,
        PTX cvt.rp.satfinite.ue8m0x2.f32).

    The largest magnitudes are float32 numbers, not NaN.
    """
    if rule == "rceil":
        quotients = (amax.astype(np.float32) / np.float32(element.max)).astype(np.float64)
        return _clip(_ceil_log2(np.where(np.isinf(quotients), _BEYOND, quotients)))
    magnitudes = np.where(np.isinf(amax), _BEYOND, amax)
    if rule == "ceil":
        logarithms = _ceil_log2(magnitudes)
    elif rule == "even":
        logarithms = _floor_log2_rounded(magnitudes, mantissa_bits(element))
    else:
        logarithms = _floor_log2(magnitudes)
    return _clip(logarithms - max_exponent(element))


def max_exponent(element: Format) -> int:
    """Return floor(log2(max)) of an element format, the emax of the MX specification."""
    return int(np.frexp(element.max)[1]) - 1


def mantissa_bits(element: Format) -> int:
    """Return how many bits follow the leading one of the largest element."""
    return max_exponent(element) - (int(np.frexp(top_gap(element))[1]) - 1)


def top_gap(element: Format) -> float:
    """Return the distance between the two largest numbers of a format of at most 16 bits."""
    numbers = finite_values(element)
    return float(numbers[-1] - numbers[-2])


def _floor_log2(values: Floats) -> npt.NDArray[np.int64]:
    # frexp, because log2 rounds: the logarithm of the number before 2**k can come out as k.
    _, exponents = np.frexp(values)
    return np.where(values > 0, exponents.astype(np.int64) - 1, np.iinfo(np.int32).min)


def _ceil_log2(values: Floats) -> npt.NDArray[np.int64]:
    fractions, _ = np.frexp(values)
    return _floor_log2(values) + (fractions > 0.5)


def _floor_log2_rounded(values: Floats, num_bits: int) -> npt.NDArray[np.int64]:
    fractions, _ = np.frexp(values)
    # Rounded to num_bits after the leading one (a tie away from zero), does it reach the next 2**k?
    return _floor_log2(values) + (fractions >= 1 - 2.0 ** -(num_bits + 2))


def _clip(exponents: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.clip(exponents, _LOWEST, _HIGHEST)
