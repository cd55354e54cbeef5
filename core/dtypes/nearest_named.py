"""Which known format a designed one resembles most."""

from dataclasses import dataclass, replace

from core.dtypes.float_format import RULES, FloatFormat
from core.dtypes.formats import FORMATS


@dataclass(frozen=True, kw_only=True, slots=True)
class NearestNamed:
    """The named format nearest to a designed one.

    Attributes:
        name: Its name.
        differences: The rules in which the two differ: (rule, designed, named); empty for a twin.
    """

    name: str
    differences: tuple[tuple[str, int, int], ...]


def nearest_named(fmt: FloatFormat) -> NearestNamed:
    """Return the named format with the widths nearest to those of `fmt`, then range, then specials.

    >>> from core.dtypes import float_format
    >>> nearest_named(float_format("mine", 8, 7)).name
    'bfloat16'
    """
    named = [each for each in FORMATS.values() if isinstance(each, FloatFormat)]
    nearest = min(named, key=lambda each: _distance(fmt, each))
    pairs = ((rule, int(getattr(fmt, rule)), int(getattr(nearest, rule))) for rule in RULES)
    return NearestNamed(
        name=nearest.name,
        differences=tuple(each for each in pairs if each[1] != each[2]),
    )


def same_numbers(fmt: FloatFormat, other: FloatFormat) -> bool:
    """Return whether two formats are one but for the name and the source."""
    return replace(fmt, name="", source="") == replace(other, name="", source="")


def _distance(fmt: FloatFormat, other: FloatFormat) -> tuple[int, int, int]:
    widths = abs(fmt.exponent_bits - other.exponent_bits) + abs(
        fmt.mantissa_bits - other.mantissa_bits
    )
    reach = abs(fmt.max_exponent - other.max_exponent) + abs(fmt.min_exponent - other.min_exponent)
    specials = sum(getattr(fmt, rule) != getattr(other, rule) for rule in RULES[3:])
    return widths, reach, specials
