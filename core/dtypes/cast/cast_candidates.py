"""The two numbers around a value, and what stands in for one beyond the largest."""

from fractions import Fraction

from core.dtypes.cast.cast_steps import Reason, Split, largest_magnitude
from core.dtypes.cast.cast_trace import Candidate
from core.dtypes.float_format import FloatFormat
from core.dtypes.int_format import IntFormat
from core.dtypes.rounding import Overflow, Rounding

Grid = FloatFormat | IntFormat


def candidates(fmt: Grid, place: Split, *, negative: bool) -> tuple[Candidate, Candidate]:
    """Return the neighbours in the order of the number line.

    Beyond the largest number: that one, and the one that would come next if exponents went on.
    """
    near, far = _magnitudes(fmt, place, negative=negative)
    if negative:
        return far, near
    return near, far


def _magnitudes(fmt: Grid, place: Split, *, negative: bool) -> tuple[Candidate, Candidate]:
    if isinstance(fmt, FloatFormat) and is_flushed(fmt, place, up=False):
        smallest = 1 << fmt.mantissa_bits
        return (
            _candidate(fmt, 0, Fraction(0), negative=negative),
            _candidate(fmt, smallest, fmt.exact_magnitude(smallest), negative=negative),
        )
    largest = largest_magnitude(fmt, negative=negative)
    code = min(place.base + place.whole, largest)
    if code < place.base + place.whole:  # beyond: the step above the largest is that below it
        near, step = _value(fmt, largest), _value(fmt, largest) - _value(fmt, largest - 1)
    else:
        near, step = place.whole * place.unit, place.unit if place.fraction else Fraction(0)
    return (
        _candidate(fmt, code, near, negative=negative),
        _candidate(fmt, code + bool(step), near + step, negative=negative),
    )


def _value(fmt: Grid, magnitude: int) -> Fraction:
    if isinstance(fmt, FloatFormat):
        return fmt.exact_magnitude(magnitude)
    return Fraction(magnitude, 1 << fmt.fraction_bits)


def _candidate(fmt: Grid, magnitude: int, exact: Fraction, *, negative: bool) -> Candidate:
    has_sign = fmt.signed or not negative or magnitude == 0
    exists = has_sign and 0 <= magnitude <= largest_magnitude(fmt, negative=negative)
    code = signed_code(fmt, magnitude, negative=negative) if exists else None
    return Candidate(code=code, exact=-exact if negative else exact)


def signed_code(fmt: Grid, magnitude: int, *, negative: bool) -> int:
    """Return the code of a magnitude (a special's included) with its sign."""
    if isinstance(fmt, IntFormat):
        return (-magnitude if negative else magnitude) % fmt.num_codes
    has_minus = negative and fmt.signed and (fmt.negative_zero or magnitude > 0)
    return magnitude | (1 << fmt.magnitude_bits if has_minus else 0)


def share_between(value: Fraction, lower: Candidate, upper: Candidate) -> Fraction:
    """Return where the value lies: 0 at the lower, 1 at the upper; outside when beyond them."""
    step = upper.exact - lower.exact
    return (value - lower.exact) / step if step else Fraction(0)


def is_flushed(fmt: FloatFormat, place: Split, *, up: bool) -> bool:
    """Return whether the result would be subnormal in a format that has no subnormals."""
    in_lowest = fmt.zero and place.base == 0
    return not fmt.subnormals and in_lowest and place.whole + up < 1 << fmt.mantissa_bits


def overflow_magnitude(
    fmt: Grid, rounding: Rounding, overflow: Overflow, *, negative: bool
) -> tuple[int, Reason]:
    """Return the code without sign that stands in for a number beyond the largest, and why."""
    largest = largest_magnitude(fmt, negative=negative)
    if isinstance(fmt, IntFormat) or overflow == "saturate":
        return largest, "beyond_largest"
    against = {"toward_zero": True, "up": negative, "down": not negative}.get(rounding, False)
    if overflow == "default" and against:
        return largest, "beyond_stops"
    if overflow != "nan" and fmt.infinity_code is not None:
        return fmt.infinity_code, "beyond_largest"
    return largest if fmt.nan_code is None else fmt.nan_code, "beyond_largest"
