"""Floats to codes and back, for every layout of sign, exponent and mantissa at once.

Encoding takes five exact steps: split |x| into fraction and exponent; lift the exponent to that of
the smallest normal number; measure |x| in units in the last place; round to a whole number; add the
exponent field. A carry out of the mantissa, subnormals and the smallest normal number need no case
of their own: the codes of neighbours are neighbours. Infinity and NaN are put in afterwards.

Why apart: it asks a layout only; whatever has a layout is coded by it, named or not.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from core.dtypes.number_formats.float_layout import FloatLayout
from core.dtypes.rounding import Flags, Floats, Overflow, Rounding, round_magnitudes
from core.dtypes.rounding import stops_at_the_largest as stops

WideCodes = npt.NDArray[np.uint64]


def decode_floats(fmt: FloatLayout, codes: npt.NDArray[np.unsignedinteger[Any]]) -> Floats:
    """Return what codes mean as float64; what float64 cannot hold becomes infinity or zero."""
    wide = codes.astype(np.uint64)
    magnitude = wide & np.uint64((1 << fmt.magnitude_bits) - 1)
    field = (magnitude >> np.uint64(fmt.mantissa_bits)).astype(np.int64)
    mantissa = (magnitude & np.uint64((1 << fmt.mantissa_bits) - 1)).astype(np.float64)
    exponent = np.maximum(field, int(fmt.zero)) - fmt.bias - fmt.mantissa_bits
    is_normal = (field > 0) if fmt.zero else np.ones(field.shape, np.bool_)
    hidden = np.where(is_normal, float(1 << fmt.mantissa_bits), 0.0)
    if not fmt.subnormals:
        mantissa = np.where(is_normal, mantissa, 0.0)
    with np.errstate(over="ignore", under="ignore"):
        values: Floats = np.ldexp(hidden + mantissa, exponent)
    values[magnitude > fmt.max_code] = np.nan
    if fmt.infinity_code is not None:
        values[magnitude == fmt.infinity_code] = np.inf
    if not fmt.signed:
        return values
    negative = (wide >> np.uint64(fmt.magnitude_bits)).astype(np.bool_)
    values = np.where(negative, -values, values)
    if not fmt.negative_zero:
        values[negative & (magnitude == 0)] = np.nan
    return values


def encode_floats(
    fmt: FloatLayout,
    values: Floats,
    rounding: Rounding,
    overflow: Overflow,
    rng: np.random.Generator | None,
) -> WideCodes:
    """Return the code of each value (one dimension), rounded once."""
    negative = np.signbit(values)
    magnitudes = _magnitude_codes(fmt, np.abs(values), negative, rounding, rng)
    too_large = magnitudes > fmt.max_code
    if too_large.any():  # infinity and NaN come out of the rounding as a code beyond the largest
        _put_specials(fmt, magnitudes, values, too_large, rounding, overflow)
    if not fmt.signed:
        # There is no code for a number below zero; what rounds to a zero has lost its sign.
        lost = negative & (values < 0) & ((magnitudes > 0) | (not fmt.zero))
        magnitudes[lost] = 0 if fmt.nan_code is None else fmt.nan_code
        return magnitudes
    sign = negative.astype(np.uint64) << np.uint64(fmt.magnitude_bits)
    if not fmt.negative_zero:
        sign[magnitudes == 0] = 0  # the code of -0 would be NaN
    return magnitudes | sign


def _magnitude_codes(
    fmt: FloatLayout,
    magnitudes: Floats,
    negative: Flags,
    rounding: Rounding,
    rng: np.random.Generator | None,
) -> WideCodes:
    """Return codes without sign, as if exponents went on for ever above the largest."""
    _, exponent = np.frexp(magnitudes)  # |x| = fraction * 2**exponent, fraction in [0.5, 1)
    # frexp gives zero the exponent 0; it belongs to the lowest binade of all.
    exponent = np.where(magnitudes > 0, exponent.astype(np.int64) - 1, fmt.min_exponent)
    lifted = np.maximum(exponent, fmt.min_exponent)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.ldexp(magnitudes, fmt.mantissa_bits - lifted)
        whole = round_magnitudes(scaled, negative, rounding, rng)
    if not fmt.subnormals:
        whole[(lifted == fmt.min_exponent) & (whole < 1 << fmt.mantissa_bits)] = 0
    finite = np.isfinite(magnitudes)
    whole[~finite] = 0
    # One exponent too many stands for all that are too large: no shift leaves the 64 bits.
    steps = np.minimum(lifted - fmt.min_exponent, 1 << fmt.exponent_bits).astype(np.uint64)
    codes: WideCodes = whole.astype(np.uint64) + (steps << np.uint64(fmt.mantissa_bits))
    if not fmt.zero:
        hidden = np.uint64(1 << fmt.mantissa_bits)
        codes = np.maximum(codes, hidden) - hidden
    codes[~finite] = fmt.max_code + 1
    return codes


def _put_specials(
    fmt: FloatLayout,
    magnitudes: WideCodes,
    values: Floats,
    too_large: Flags,
    rounding: Rounding,
    overflow: Overflow,
) -> None:
    """Replace the codes beyond the largest finite number, in place."""
    magnitudes[too_large] = _overflow_code(fmt, overflow)
    if overflow == "default":
        magnitudes[too_large & np.isfinite(values) & stops(rounding, np.signbit(values))] = (
            fmt.max_code
        )
    # A NaN stays NaN under every policy; without a NaN code the standards leave it undefined, and
    # this codec answers with zero.
    nan = np.isnan(values)
    magnitudes[nan] = 0 if fmt.nan_code is None else fmt.nan_code


def _overflow_code(fmt: FloatLayout, overflow: Overflow) -> int:
    if overflow == "saturate":
        return fmt.max_code
    if overflow != "nan" and fmt.infinity_code is not None:
        return fmt.infinity_code
    return fmt.max_code if fmt.nan_code is None else fmt.nan_code
