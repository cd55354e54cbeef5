"""One cast in exact arithmetic: what happened to the number, between which two, and which won.

Nothing here is shared with the codec: the two are compared in the tests, number by number.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from core.dtypes.exact import floor_log2, to_float
from core.dtypes.number_formats.codebook_format import CodebookFormat
from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.int_format import IntFormat
from core.dtypes.rounding import Overflow, Rounding

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
        upper: The neighbour at or above it.
        share: Where the number lies between them: 0 at the lower, 1 at the upper one.
        result: What is stored, as float64.
        exact_result: What is stored; None for infinity and NaN.
        outcome: What a lamp would show.
        reason: Why this candidate won, as a key.
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
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


def split(fmt: Grid, magnitude: Fraction) -> Split:
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
    return Split(whole=whole, fraction=rest / unit, unit=unit, base=base)


def goes_up(place: Split, *, negative: bool, rounding: Rounding, chance: float) -> bool:
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


def reason_of(cut: Fraction, rounding: Rounding, *, tie: Reason = "tie_to_even") -> Reason:
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


def codebook_neighbours(fmt: CodebookFormat, value: Fraction) -> tuple[int, int]:
    """Return the codes around a value; twice the same where the value is one of the list."""
    values = [Fraction(each) for each in fmt.values]
    clipped = min(max(value, values[0]), values[-1])
    lower = max(code for code, each in enumerate(values) if each <= clipped)
    return lower, lower if values[lower] == clipped else lower + 1


def codebook_goes_up(above: Fraction, *, negative: bool, rounding: Rounding, chance: float) -> bool:
    """Return whether the larger code wins; `above` is 0 at the lower number and 1 at the upper."""
    return {
        "nearest_even": above > HALF,
        "nearest_away": above > HALF or (above == HALF and not negative),
        "toward_zero": negative and above > 0,
        "up": above > 0,
        "down": False,
        "stochastic": chance < above,
    }[rounding]


def candidates(fmt: Grid, place: Split, *, negative: bool) -> tuple[Candidate, Candidate]:
    """Return the neighbours in the order of the number line.

    Beyond the largest number: that one, and the one that would come next if exponents went on.
    """
    if isinstance(fmt, FloatFormat) and is_flushed(fmt, place, up=False):
        smallest = 1 << fmt.mantissa_bits
        pairs = (0, Fraction(0)), (smallest, fmt.exact_magnitude(smallest))
    else:
        largest = largest_magnitude(fmt, negative=negative)
        code = min(place.base + place.whole, largest)
        if code < place.base + place.whole:  # beyond: the step above the largest is that below it
            start, step = _value(fmt, largest), _value(fmt, largest) - _value(fmt, largest - 1)
        else:
            start, step = place.whole * place.unit, place.unit if place.fraction else Fraction(0)
        pairs = (code, start), (code + bool(step), start + step)
    near, far = (_candidate(fmt, *pair, negative=negative) for pair in pairs)
    return (far, near) if negative else (near, far)


def share_between(value: Fraction, lower: Candidate, upper: Candidate) -> Fraction:
    """Return where the value lies: 0 at the lower, 1 at the upper; outside when beyond them."""
    step = upper.exact - lower.exact
    return (value - lower.exact) / step if step else Fraction(0)


def signed_code(fmt: Grid, magnitude: int, *, negative: bool) -> int:
    """Return the code of a magnitude (a special's included) with its sign."""
    if isinstance(fmt, IntFormat):
        return (-magnitude if negative else magnitude) % fmt.num_codes
    has_minus = negative and fmt.signed and (fmt.negative_zero or magnitude > 0)
    return magnitude | (1 << fmt.magnitude_bits if has_minus else 0)


def largest_magnitude(fmt: Grid, *, negative: bool) -> int:
    """Return the largest magnitude code of a float, or the largest magnitude of an integer."""
    if isinstance(fmt, FloatFormat):
        return fmt.max_code
    return -fmt.lowest if negative else fmt.highest


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


def _value(fmt: Grid, magnitude: int) -> Fraction:
    if isinstance(fmt, FloatFormat):
        return fmt.exact_magnitude(magnitude)
    return Fraction(magnitude, 1 << fmt.fraction_bits)


def _candidate(fmt: Grid, magnitude: int, exact: Fraction, *, negative: bool) -> Candidate:
    has_sign = fmt.signed or not negative or magnitude == 0
    exists = has_sign and 0 <= magnitude <= largest_magnitude(fmt, negative=negative)
    code = signed_code(fmt, magnitude, negative=negative) if exists else None
    return Candidate(code=code, exact=-exact if negative else exact)
