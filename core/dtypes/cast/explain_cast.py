"""A number put into a format, step by step, in exact arithmetic."""

import math
from dataclasses import replace
from fractions import Fraction

from core.dtypes.cast.cast_trace import (
    Candidate,
    CastTrace,
    Outcome,
    Reason,
    candidates,
    codebook_goes_up,
    codebook_neighbours,
    goes_up,
    is_flushed,
    largest_magnitude,
    overflow_magnitude,
    reason_of,
    share_between,
    signed_code,
    split,
)
from core.dtypes.exact import parse_value
from core.dtypes.facts.explain import kind_of
from core.dtypes.number_formats.codebook_format import CodebookFormat
from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format
from core.dtypes.number_formats.int_format import IntFormat
from core.dtypes.rounding import Overflow, Rounding, check_policy


def explain_cast(
    fmt: Format,
    value: Fraction | float | str,
    rounding: Rounding = "nearest_even",
    overflow: Overflow = "default",
    *,
    chance: float = 0.5,
) -> CastTrace:
    """Return every step of putting one number into a format, in exact arithmetic.

    Args:
        fmt: The format.
        value: A number, or a text that `parse_value` reads: "65519.99" is exactly that.
        rounding: One of `ROUNDINGS`.
        overflow: One of `OVERFLOWS`.
        chance: What stochastic rounding draws, in [0, 1): up if it is below the part cut off.

    Raises:
        ValueError: If the text is no number, or a policy is unknown.

    >>> from core.dtypes import FORMATS
    >>> trace = explain_cast(FORMATS["bfloat16"], 257)
    >>> trace.result, trace.reason
    (256.0, 'tie_to_even')
    """
    check_policy(rounding, overflow)
    number = parse_value(value) if isinstance(value, str) else value
    if isinstance(number, float) and not math.isfinite(number):
        # What becomes of infinity and NaN is a rule, not a rounding.
        code = int(fmt.encode([number], "nearest_even", overflow)[0])
        return _stored(fmt, code, number, "nan" if math.isnan(number) else "infinity")
    if number == 0:
        return _zero(fmt, number)
    exact = Fraction(number)
    if isinstance(fmt, CodebookFormat):
        return _into_codebook(fmt, exact, rounding, chance)
    assert isinstance(fmt, FloatFormat | IntFormat)  # noqa: S101  there are three kinds
    trace = _into_grid(fmt, exact, rounding, overflow, chance)
    if exact > 0 or fmt.signed or trace.outcome == "underflow":
        return trace
    code = int(fmt.encode([-1.0], "nearest_even", overflow)[0])
    return _stored(fmt, code, exact, "no_sign", overflowed=isinstance(fmt, IntFormat))


def _zero(fmt: Format, number: Fraction | float) -> CastTrace:
    code = int(fmt.encode([float(number)])[0])
    has_zero = fmt.exact(code) == 0
    at = Candidate(code=code, exact=Fraction(0)) if has_zero else None
    kept = "0" * (fmt.mantissa_bits + 1) if isinstance(fmt, FloatFormat) else "0"
    value = number if str(number) == "-0.0" else Fraction(0)
    trace = _stored(fmt, code, value, "exact" if has_zero else "no_zero")
    return replace(trace, kept=kept, lower=at, upper=at)


def _into_codebook(
    fmt: CodebookFormat, value: Fraction, rounding: Rounding, chance: float
) -> CastTrace:
    low, high = codebook_neighbours(fmt, value)
    lower, upper = (Candidate(code=each, exact=Fraction(fmt.values[each])) for each in (low, high))
    outside = not fmt.min <= value <= fmt.max
    above = share_between(value, lower, upper)
    up = codebook_goes_up(above, negative=value < 0, rounding=rounding, chance=chance)
    reason = "beyond_largest" if outside else reason_of(above, rounding, tie="tie_to_lower")
    trace = _stored(fmt, high if up else low, value, reason, overflowed=outside)
    return replace(trace, lower=lower, upper=upper, share=above)


def _into_grid(
    fmt: FloatFormat | IntFormat,
    value: Fraction,
    rounding: Rounding,
    overflow: Overflow,
    chance: float,
) -> CastTrace:
    negative, place = value < 0, split(fmt, abs(value))
    up = goes_up(place, negative=negative, rounding=rounding, chance=chance)
    magnitude = place.base + place.whole + up
    reason = reason_of(place.fraction, rounding)
    overflowed = magnitude > largest_magnitude(fmt, negative=negative)
    if overflowed:
        magnitude, reason = overflow_magnitude(fmt, rounding, overflow, negative=negative)
    elif isinstance(fmt, FloatFormat) and is_flushed(fmt, place, up=up):
        magnitude, reason = 0, "flushed"
    elif magnitude < 0:
        magnitude, reason = 0, "no_zero"
    lower, upper = candidates(fmt, place, negative=negative)
    width = fmt.mantissa_bits + 1 if isinstance(fmt, FloatFormat) else fmt.bits - fmt.signed
    code = signed_code(fmt, magnitude, negative=negative)
    return replace(
        _stored(fmt, code, value, reason, overflowed=overflowed),
        kept=f"{place.whole:0{width}b}",
        cut=place.fraction,
        lower=lower,
        upper=upper,
        share=share_between(value, lower, upper),
    )


def _stored(
    fmt: Format, code: int, value: Fraction | float, reason: Reason, *, overflowed: bool = False
) -> CastTrace:
    exact = fmt.exact(code)
    stored = None if isinstance(exact, str) else exact
    return CastTrace(
        value=value,
        code=code,
        result=float(fmt.decode([code])[0]),
        exact_result=stored,
        outcome=_outcome(value, stored, reason, overflowed=overflowed),
        reason=reason,
        is_subnormal=kind_of(fmt, code) == "subnormal",
    )


def _outcome(
    value: Fraction | float, stored: Fraction | None, reason: Reason, *, overflowed: bool
) -> Outcome:
    if reason in ("nan", "infinity"):
        return "nan" if reason == "nan" else "infinity"
    if overflowed:
        return "overflow"
    if stored is None:
        return "nan"
    if stored == value:
        return "exact"
    return "underflow" if stored == 0 else "rounded"
