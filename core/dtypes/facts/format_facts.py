"""What a format can hold, in exact numbers, and which known format a designed one resembles."""

import math
from dataclasses import dataclass
from fractions import Fraction

from core.dtypes.exact import exact_decimal
from core.dtypes.facts.number_line import finite_values, num_finite, number_at, place_of
from core.dtypes.number_formats.float_format import RULES, FloatFormat
from core.dtypes.number_formats.format import Counts, Format
from core.dtypes.number_formats.int_format import IntFormat
from core.dtypes.number_formats.table import FORMATS


@dataclass(frozen=True, kw_only=True, slots=True)
class FormatFacts:
    """One row of the table of formats; exact, also where float64 ends.

    Attributes:
        smallest_normal: The smallest number of full precision; None where no code reaches it.
        eps: The gap above 1.0; None where 1.0 or anything above it is no number of the format.
        precision: Significant bits of a normal number, the hidden one counted.
        num_positive: How many numbers lie above zero.
        num_below_one: How many of those lie below 1.
    """

    name: str
    bits: int
    max: Fraction
    smallest_normal: Fraction | None
    smallest: Fraction
    eps: Fraction | None
    precision: int
    counts: Counts
    num_positive: int
    num_below_one: int

    @property
    def decimal_digits(self) -> float:
        """Significant decimal digits: precision * log10(2)."""
        return self.precision * math.log10(2)

    @property
    def share_below_one(self) -> float:
        """The part of the positive numbers that lies below 1."""
        return self.num_below_one / self.num_positive


def format_facts(fmt: Format) -> FormatFacts:
    """Return the facts of a format, named or designed.

    >>> from core.dtypes import FORMATS
    >>> facts = format_facts(FORMATS["float16"])
    >>> facts.num_below_one, facts.num_positive
    (15359, 31743)
    """
    num_positive, num_below_one = _positive_numbers(fmt)
    largest, one = _at(fmt, num_finite(fmt) - 1), int(fmt.encode(1.0))
    above_one = number_at(fmt, place_of(fmt, one) + 1) if fmt.exact(one) == 1 else None
    return FormatFacts(
        name=fmt.name,
        bits=fmt.bits,
        max=largest,
        smallest_normal=_smallest_normal(fmt, largest),
        smallest=_at(fmt, num_finite(fmt) - num_positive),
        eps=None if above_one is None else above_one.exact - 1,
        precision=_precision(fmt),
        counts=fmt.counts(),
        num_positive=num_positive,
        num_below_one=num_below_one,
    )


def short_number(value: Fraction | None, digits: int = 6) -> str:
    """Return a number in at most so many significant digits; "…" where more would follow.

    What a format does not have is "–".

    >>> short_number(Fraction(65504)), short_number(Fraction(1, 3))
    ('65504', '0.333333…')
    """
    return "–" if value is None else exact_decimal(value, digits)[0]


def written_value(fmt: Format, code: int, digits: int | None = None) -> str:
    """Return what a code means in a few characters, as the bit grid in the browser writes it.

    Unless said otherwise these are 12 digits, 20 above 32 bits, so that neighbours look different.

    >>> from core.dtypes import FORMATS
    >>> written_value(FORMATS["bfloat16"], 0x4049), written_value(FORMATS["float16"], 0x8000)
    ('3.140625', '-0')
    """
    exact = fmt.exact(code)
    if exact == "nan":
        return "NaN"
    sign = "-" if fmt.is_negative(code) else ""
    if isinstance(exact, str):
        return f"{sign}∞"
    most = digits or (12 if fmt.bits <= 32 else 20)
    return short_number(exact, most) if exact else f"{sign}0"


Rules = tuple[tuple[str, int, int], ...]


def nearest_named(fmt: FloatFormat) -> tuple[str, Rules]:
    """Return the name of the format nearest in widths, then range, then specials; and what differs.

    That is each rule with its designed and its named number; there is none for a twin.

    >>> from core.dtypes import float_format
    >>> nearest_named(float_format("mine", 8, 7))[0]
    'bfloat16'
    """
    named = [each for each in FORMATS.values() if isinstance(each, FloatFormat)]
    nearest = min(named, key=lambda each: _distance(fmt, each))
    pairs = ((rule, int(getattr(fmt, rule)), int(getattr(nearest, rule))) for rule in RULES)
    return nearest.name, tuple(each for each in pairs if each[1] != each[2])


def _positive_numbers(fmt: Format) -> tuple[int, int]:
    if isinstance(fmt, FloatFormat):
        near_one = max(int(fmt.encode(1.0, "up", "saturate")), fmt.min_code)
        num_below_one = near_one + (fmt.exact_magnitude(near_one) < 1) - fmt.min_code
        return fmt.max_code + 1 - fmt.min_code, num_below_one
    if isinstance(fmt, IntFormat):
        return fmt.highest, min((1 << fmt.fraction_bits) - 1, fmt.highest)
    values = finite_values(fmt)
    return int((values > 0).sum()), int(((values > 0) & (values < 1)).sum())


def _at(fmt: Format, place: int) -> Fraction:
    number = number_at(fmt, place)
    assert number is not None  # noqa: S101  there is a number above zero in every format
    return number.exact


def _smallest_normal(fmt: Format, largest: Fraction) -> Fraction | None:
    if not isinstance(fmt, FloatFormat):
        return Fraction(fmt.smallest_normal)
    normal = Fraction(2) ** fmt.min_exponent
    return normal if normal <= largest else None


def _precision(fmt: Format) -> int:
    if isinstance(fmt, FloatFormat):
        return fmt.mantissa_bits + bool(fmt.exponent_bits)
    return fmt.bits - fmt.signed if isinstance(fmt, IntFormat) else fmt.bits


def _distance(fmt: FloatFormat, other: FloatFormat) -> tuple[int, int, int]:
    widths = abs(fmt.exponent_bits - other.exponent_bits) + abs(
        fmt.mantissa_bits - other.mantissa_bits
    )
    reach = abs(fmt.max_exponent - other.max_exponent) + abs(fmt.min_exponent - other.min_exponent)
    specials = sum(getattr(fmt, rule) != getattr(other, rule) for rule in RULES[3:])
    return widths, reach, specials
