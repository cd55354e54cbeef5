"""A number put into a format, step by step, in exact arithmetic.

Nothing here is shared with the codec: the two are compared in the tests, number by number.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal

from core.dtypes.exact import floor_log2, parse_value, to_float
from core.dtypes.facts.explain import kind_of
from core.dtypes.number_formats.codebook_format import CodebookFormat
from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format
from core.dtypes.number_formats.int_format import IntFormat
from core.dtypes.rounding import Overflow, Rounding, check_policy

Reason = Literal[
    "exact", "below_half", "above_half", "tie_to_even", "tie_away", "tie_to_lower", "toward_zero",
    "directed", "chance", "flushed", "no_zero", "beyond_largest", "beyond_stops", "no_sign",
    "infinity", "nan",
]  # fmt: skip
Outcome = Literal["exact", "rounded", "underflow", "overflow", "infinity", "nan"]
Grid = FloatFormat | IntFormat  # a codebook has no magnitudes
TAIL_BITS: Final = 24
HALF: Final = Fraction(1, 2)


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A neighbour of the number; `code` is None for one that the format does not reach."""

    code: int | None
    exact: Fraction

    @property
    def value(self) -> float:
        """The candidate as float64."""
        return to_float(self.exact)


@dataclass(frozen=True, kw_only=True, slots=True)
class CastTrace:
    """What happened to one number.

    Attributes:
        value: The number; a float for infinity, NaN and -0.
        kept: The bits of the magnitude that are kept, the hidden one first; empty for a codebook.
        cut: What is cut off the magnitude, in units in the last place: 0 <= cut < 1.
        lower: The neighbour at or below the number; None if there is none.
        share: Where the number lies between them: 0 at the lower, 1 at the upper one.
        exact_result: What is stored; None for infinity and NaN.
        is_subnormal: Whether what is stored has fewer significant bits than a normal number.
    """

    value: Fraction | float
    kept: str = ""
    cut: Fraction = Fraction(0)
    lower: Candidate | None = None
    upper: Candidate | None = None
    share: Fraction = Fraction(0)
    code: int
    result: float
    exact_result: Fraction | None
    outcome: Outcome
    reason: Reason
    is_subnormal: bool = False

    @property
    def tail(self) -> str:
        """The bits behind the kept ones, at most 24; empty when all are zero."""
        bits, rest = "", self.cut
        while rest and len(bits) < TAIL_BITS:
            bit, rest = divmod(rest * 2, 1)
            bits += str(int(bit))
        return bits

    @property
    def guard(self) -> int:
        """The first bit behind the kept ones."""
        return int(self.cut >= HALF)

    @property
    def round_bit(self) -> int:
        """The second bit behind the kept ones."""
        return int(self.cut * 2 % 1 >= HALF)

    @property
    def sticky(self) -> int:
        """Whether any later bit is one."""
        return int(self.cut * 4 % 1 > 0)

    @property
    def is_tie(self) -> bool:
        """Whether the number lies exactly halfway between its neighbours."""
        return self.share == HALF

    @property
    def error(self) -> Fraction | None:
        """What is stored minus the number; None where one of them is no finite number."""
        if self.exact_result is None or not isinstance(self.value, Fraction):
            return None
        return self.exact_result - self.value

    @property
    def relative_error(self) -> Fraction | None:
        """The error over the number's magnitude; None for zero and specials."""
        error = self.error
        if error is None or not isinstance(self.value, Fraction) or self.value == 0:
            return None
        return error / abs(self.value)


def explain_cast(
    fmt: Format,
    value: Fraction | float | str,
    rounding: Rounding = "nearest_even",
    overflow: Overflow = "default",
    *,
    chance: float = 0.5,
) -> CastTrace:
    """Return every step of putting one number into a format, in exact arithmetic.

    A text is read by `parse_value`: "65519.99" is exactly that. `chance` is what stochastic
    rounding draws, in [0, 1): up if it is below the part cut off.

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
    values = [Fraction(each) for each in fmt.values]
    clipped = min(max(value, values[0]), values[-1])
    low = max(code for code, each in enumerate(values) if each <= clipped)
    high = low if values[low] == clipped else low + 1
    lower, upper = (Candidate(code=each, exact=values[each]) for each in (low, high))
    outside, above = value != clipped, _share_between(value, lower, upper)
    up = {
        "nearest_even": above > HALF,
        "nearest_away": above > HALF or (above == HALF and value > 0),
        "toward_zero": value < 0 < above,
        "up": above > 0,
        "down": False,
        "stochastic": chance < above,
    }[rounding]
    reason = "beyond_largest" if outside else _reason_of(above, rounding, tie="tie_to_lower")
    trace = _stored(fmt, high if up else low, value, reason, overflowed=outside)
    return replace(trace, lower=lower, upper=upper, share=above)


def _into_grid(
    fmt: FloatFormat | IntFormat,
    value: Fraction,
    rounding: Rounding,
    overflow: Overflow,
    chance: float,
) -> CastTrace:
    negative, place = value < 0, _split(fmt, abs(value))
    up = _goes_up(place, negative=negative, rounding=rounding, chance=chance)
    magnitude = place.base + place.whole + up
    reason = _reason_of(place.fraction, rounding)
    overflowed = magnitude > _largest_magnitude(fmt, negative=negative)
    if overflowed:
        magnitude, reason = _overflow_magnitude(fmt, rounding, overflow, negative=negative)
    elif isinstance(fmt, FloatFormat) and _is_flushed(fmt, place, up=up):
        magnitude, reason = 0, "flushed"
    elif magnitude < 0:
        magnitude, reason = 0, "no_zero"
    lower, upper = _candidates(fmt, place, negative=negative)
    width = fmt.mantissa_bits + 1 if isinstance(fmt, FloatFormat) else fmt.bits - fmt.signed
    code = _signed_code(fmt, magnitude, negative=negative)
    return replace(
        _stored(fmt, code, value, reason, overflowed=overflowed),
        kept=f"{place.whole:0{width}b}",
        cut=place.fraction,
        lower=lower,
        upper=upper,
        share=_share_between(value, lower, upper),
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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Split:
    """A magnitude measured in units in the last place.

    Attributes:
        whole: The kept bits as a whole number: the neighbour towards zero.
        fraction: What is cut off, in units: 0 <= fraction < 1.
        unit: The unit in the last place.
        base: Added to `whole`, it gives the code of the magnitude.
    """

    whole: int
    fraction: Fraction
    unit: Fraction
    base: int


def _split(fmt: Grid, magnitude: Fraction) -> _Split:
    """Return where a magnitude lies in the grid of a format, as if its exponents never ended."""
    if isinstance(fmt, IntFormat):
        unit, base = Fraction(1, 1 << fmt.fraction_bits), 0
    else:
        natural = floor_log2(magnitude) if magnitude else fmt.min_exponent
        exponent = max(natural, fmt.min_exponent)
        unit = Fraction(2) ** (exponent - fmt.mantissa_bits)
        hidden = 0 if fmt.zero else 1 << fmt.mantissa_bits
        base = ((exponent - fmt.min_exponent) << fmt.mantissa_bits) - hidden
    whole, rest = divmod(magnitude, unit)
    return _Split(whole=whole, fraction=rest / unit, unit=unit, base=base)


def _goes_up(place: _Split, *, negative: bool, rounding: Rounding, chance: float) -> bool:
    """Return whether the magnitude is rounded away from zero."""
    cut = place.fraction
    return {
        "nearest_even": cut > HALF or (cut == HALF and place.whole % 2 == 1),
        "nearest_away": cut >= HALF,
        "toward_zero": False,
        "up": cut > 0 and not negative,
        "down": cut > 0 and negative,
        "stochastic": chance < cut,
    }[rounding]


def _reason_of(cut: Fraction, rounding: Rounding, *, tie: Reason = "tie_to_even") -> Reason:
    """Return why the winner of two candidates won; `tie` names this format's rule for a half."""
    if cut == 0:
        return "exact"
    if rounding == "stochastic":
        return "chance"
    if not rounding.startswith("nearest"):
        return "toward_zero" if rounding == "toward_zero" else "directed"
    if cut == HALF:
        return tie if rounding == "nearest_even" else "tie_away"
    return "above_half" if cut > HALF else "below_half"


def _candidates(fmt: Grid, place: _Split, *, negative: bool) -> tuple[Candidate, Candidate]:
    """Return the neighbours in the order of the number line.

    Beyond the largest number: that one, and the one that would come next if exponents went on.
    """
    if isinstance(fmt, FloatFormat) and _is_flushed(fmt, place, up=False):
        smallest = 1 << fmt.mantissa_bits
        pairs = (0, Fraction(0)), (smallest, fmt.exact_magnitude(smallest))
    else:
        largest = _largest_magnitude(fmt, negative=negative)
        code = min(place.base + place.whole, largest)
        if code < place.base + place.whole:  # beyond: the step above the largest is that below it
            start, step = _value(fmt, largest), _value(fmt, largest) - _value(fmt, largest - 1)
        else:
            start, step = place.whole * place.unit, place.unit if place.fraction else Fraction(0)
        pairs = (code, start), (code + bool(step), start + step)
    near, far = (_candidate(fmt, *pair, negative=negative) for pair in pairs)
    return (far, near) if negative else (near, far)


def _share_between(value: Fraction, lower: Candidate, upper: Candidate) -> Fraction:
    """Return where the value lies: 0 at the lower, 1 at the upper; outside when beyond them."""
    step = upper.exact - lower.exact
    return (value - lower.exact) / step if step else Fraction(0)


def _signed_code(fmt: Grid, magnitude: int, *, negative: bool) -> int:
    """Return the code of a magnitude (a special's included) with its sign."""
    if isinstance(fmt, IntFormat):
        return (-magnitude if negative else magnitude) % fmt.num_codes
    has_minus = negative and fmt.signed and (fmt.negative_zero or magnitude > 0)
    return magnitude | (1 << fmt.magnitude_bits if has_minus else 0)


def _largest_magnitude(fmt: Grid, *, negative: bool) -> int:
    """Return the largest magnitude code of a float, or the largest magnitude of an integer."""
    if isinstance(fmt, FloatFormat):
        return fmt.max_code
    return -fmt.lowest if negative else fmt.highest


def _is_flushed(fmt: FloatFormat, place: _Split, *, up: bool) -> bool:
    """Return whether the result would be subnormal in a format that has no subnormals."""
    in_lowest = fmt.zero and place.base == 0
    return not fmt.subnormals and in_lowest and place.whole + up < 1 << fmt.mantissa_bits


def _overflow_magnitude(
    fmt: Grid, rounding: Rounding, overflow: Overflow, *, negative: bool
) -> tuple[int, Reason]:
    """Return the code without sign that stands in for a number beyond the largest, and why."""
    largest = _largest_magnitude(fmt, negative=negative)
    if isinstance(fmt, IntFormat) or overflow == "saturate":
        return largest, "beyond_largest"
    against = {"toward_zero": True, "up": negative, "down": not negative}.get(rounding, False)
    if overflow == "default" and against:
        return largest, "beyond_stops"
    if overflow != "nan" and fmt.infinity_code is not None:
        return fmt.infinity_code, "beyond_largest"
    return largest if fmt.nan_code is None else fmt.nan_code, "beyond_largest"


def _value(fmt: Grid, magnitude: int) -> Fraction:
    if isinstance(fmt, FloatFormat):
        return fmt.exact_magnitude(magnitude)
    return Fraction(magnitude, 1 << fmt.fraction_bits)


def _candidate(fmt: Grid, magnitude: int, exact: Fraction, *, negative: bool) -> Candidate:
    has_sign = fmt.signed or not negative or magnitude == 0
    exists = has_sign and 0 <= magnitude <= _largest_magnitude(fmt, negative=negative)
    code = _signed_code(fmt, magnitude, negative=negative) if exists else None
    return Candidate(code=code, exact=-exact if negative else exact)
