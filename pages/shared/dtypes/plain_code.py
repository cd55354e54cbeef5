"""Rounding in plain Python, for the code that a page shows: no library of ours is needed."""

from fractions import Fraction
from typing import Final

from core.dtypes import FloatFormat, Format, IntFormat, Overflow, Rounding
from core.dtypes.cast.explain_cast import explain_cast

STEP_AT: Final = '''
import math
from fractions import Fraction


def step_at(x, mantissa_bits, lowest_exponent):
    """Return how far apart the numbers of a format are around x."""
    exponent = abs(x.numerator).bit_length() - x.denominator.bit_length()
    exponent -= abs(x) < Fraction(2) ** exponent  # now 2**exponent <= |x| < 2**(exponent + 1)
    return Fraction(2) ** (max(exponent, lowest_exponent) - mantissa_bits)
'''
_FAR: Final = 1000


def is_plain(fmt: Format) -> bool:
    """Return whether the numbers of a format are whole steps of `STEP_AT`, zero among them."""
    if isinstance(fmt, FloatFormat):
        return fmt.signed and fmt.zero and fmt.subnormals
    return isinstance(fmt, IntFormat) and fmt.signed


def widths(fmt: Format) -> tuple[int, int]:
    """Return what `STEP_AT` needs to know of a plain format."""
    if isinstance(fmt, FloatFormat):
        return fmt.mantissa_bits, fmt.min_exponent
    assert isinstance(fmt, IntFormat)  # noqa: S101  the others are not plain
    whole = fmt.bits - 1 - fmt.fraction_bits
    return fmt.bits - 1, whole  # one step for all of them


def exact_text(text: str, value: Fraction) -> str:
    """Return Python for exactly this number, as the reader wrote it where Python reads that too."""
    try:
        is_same = Fraction(text) == value
    except (ValueError, ZeroDivisionError):
        is_same = False
    if is_same:
        return f'Fraction("{text}")'
    return f"Fraction({value.numerator}, {value.denominator})"


def beyond(
    fmt: Format,
    *,
    negative: bool,
    rounding: Rounding = "nearest_even",
    overflow: Overflow = "default",
) -> str:
    """Return Python for what a number far outside a format becomes."""
    far = Fraction(-_FAR if negative else _FAR) * Fraction(fmt.max)
    result = explain_cast(fmt, far, rounding, overflow).result
    return repr(result) if abs(result) <= fmt.max else f'float("{result}")'
