"""Numbers to slide through: all of a format in their order, some around a number, and decades."""

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final

from core.dtypes.cast.explain_cast import Candidate, explain_cast
from core.dtypes.exact import exact_decimal, hex_float
from core.dtypes.facts.number_line import num_finite, number_at, place_of
from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format

MAGNITUDE_BITS: Final = 8  # of a wide float these run through all patterns, the lower ones are 0
PARTS: Final = 16  # of the gap between two neighbours
_MOST_DIGITS: Final = 24  # what is longer in decimal is written in hexadecimal
_FINE: Final = 100  # a stop inside a gap is written to this part of it
_FINER: Final = 1000  # the centre of a window to this part of its width: less than a pixel
_STEPS, _WINDOWS = 8, 8  # of a window that moves: steps in its width, and widths to each side
_LEADING: Final = (1, 2, 3, 5, 7)
_EXPONENTS: Final = range(-9, 7)
_LEAST_FIXED: Final = -4  # from this power of ten on no exponent is written


@lru_cache(maxsize=64)
def codes_in_order(fmt: Format) -> tuple[int, ...]:
    """Return codes of a format in the order of their numbers; of a wide one, about 512 of them."""
    if not isinstance(fmt, FloatFormat):
        found = (number_at(fmt, place) for place in range(num_finite(fmt)))
        return tuple(each.code for each in found if each is not None)
    step = 1 << max(fmt.magnitude_bits - MAGNITUDE_BITS, 0)
    inside = range(0 if fmt.min_code == 0 else step, fmt.max_code + 1, step)
    ends = {fmt.min_code, int(fmt.encode(1.0)), fmt.max_code}
    magnitudes = sorted(ends | {each for each in inside if each >= fmt.min_code})
    sign = 1 << fmt.magnitude_bits
    below = [sign | each for each in reversed(magnitudes)] if fmt.signed else []
    return (*below, *([0] if fmt.zero else []), *magnitudes)


def numbers_around(fmt: Format, value: Fraction | float) -> Mapping[str, Fraction]:
    """Return numbers on both sides of one, over two or three gaps of a format: text -> number.

    The numbers of the format and the middles between them are exact; the others are round. Around
    infinity and NaN, and below zero in a format without sign, there are none.

    >>> from core.dtypes import FORMATS
    >>> list(numbers_around(FORMATS["bfloat16"], Fraction(257)))[24:27]
    ['257', '257.12', '257.25']
    """
    trace = explain_cast(fmt, value)
    if trace.lower is None or trace.upper is None:
        return {}
    edges = _edges(fmt, trace.lower, trace.upper)
    stops: dict[str, Fraction] = {}
    for low, high in pairwise(edges):
        part = (high - low) / PARTS
        for number in range(PARTS + 1):
            exact = low + number * part
            if number % (PARTS // 2):
                exact = _round(exact, (high - low) / _FINE)
            stops[_written(exact)] = exact
    return stops


@lru_cache(maxsize=1)
def decades() -> Mapping[str, Fraction]:
    """Return numbers from minus to plus ten million, zero among them: text -> number.

    >>> list(decades())[80:84]
    ['0', '1e-9', '2e-9', '3e-9']
    """
    above = dict(_decade(digit, power) for power in _EXPONENTS for digit in _LEADING)
    below = {f"-{text}": -exact for text, exact in reversed(above.items())}
    return {**below, "0": Fraction(0), **above}


def centers(value: Fraction | float, exponent: int) -> Mapping[str, Fraction]:
    """Return eight windows of 2**exponent to each side of a number, in eighths: text -> number.

    Around infinity and NaN there are none.

    >>> list(centers(Fraction(1), -3))[62:67]
    ['0.96875', '0.984375', '1', '1.015625', '1.03125']
    """
    if isinstance(value, float) and not math.isfinite(value):
        return {}
    step = Fraction(2) ** exponent / _STEPS
    center = Fraction(value)
    stops = (center + n * step for n in range(-_STEPS * _WINDOWS, _STEPS * _WINDOWS + 1))
    return {_written(each): each for each in stops}


def center_text(center: Fraction, exponent: int) -> str:
    """Return where a window of 2**exponent stands, in as few digits as no eye misses.

    >>> center_text(Fraction(1, 3), -3), center_text(Fraction(2) ** 1000, 1000)
    ('0.3333', '1.072e+301')
    """
    return _written(_round(center, Fraction(2) ** exponent / _FINER))


def _decade(digit: int, power: int) -> tuple[str, Fraction]:
    exact = digit * Fraction(10) ** power
    return exact_decimal(exact)[0] if power >= _LEAST_FIXED else f"{digit}e{power}", exact


def _edges(fmt: Format, lower: Candidate, upper: Candidate) -> list[Fraction]:
    around = [_beside(fmt, lower.code, -1), *sorted({lower.exact, upper.exact})]
    known = [each for each in (*around, _beside(fmt, upper.code, 1)) if each is not None]
    if around[0] is None:
        known.insert(0, 2 * known[0] - known[1])
    if len(known) == len(around):
        known.append(2 * known[-1] - known[-2])
    return known


def _beside(fmt: Format, code: int | None, step: int) -> Fraction | None:
    found = None if code is None else number_at(fmt, place_of(fmt, code) + step)
    return None if found is None else found.exact


def _round(exact: Fraction, most: Fraction) -> Fraction:
    power = len(str(most.numerator)) - len(str(most.denominator))
    unit = Fraction(10) ** (power if Fraction(10) ** power <= most else power - 1)
    return round(exact / unit) * unit


def _written(exact: Fraction) -> str:
    text, is_whole = exact_decimal(exact, _MOST_DIGITS)
    return text if is_whole else hex_float(exact)
