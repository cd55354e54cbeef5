"""The steps of one cast in exact arithmetic: between which two numbers, and which of them wins.

Nothing here is shared with the codec: the two are compared in the tests, number by number.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal

from core.dtypes.codebook_format import CodebookFormat
from core.dtypes.exact import floor_log2
from core.dtypes.float_format import FloatFormat
from core.dtypes.format import Format
from core.dtypes.int_format import IntFormat
from core.dtypes.rounding import Rounding

Reason = Literal[
    "exact", "below_half", "above_half", "tie_to_even", "tie_away", "tie_to_lower", "toward_zero",
    "directed", "chance", "flushed", "no_zero", "beyond_largest", "beyond_stops", "no_sign",
    "infinity", "nan",
]  # fmt: skip
HALF: Final = Fraction(1, 2)


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


def split(fmt: FloatFormat | IntFormat, magnitude: Fraction) -> Split:
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
    rule = _UP[rounding]
    return place.fraction > 0 and rule(place, negative, chance)


_Rule = Callable[[Split, bool, float], bool]
_UP: Final[Mapping[Rounding, _Rule]] = MappingProxyType(
    {
        "nearest_even": lambda place, _sign, _chance: (
            place.fraction > HALF or (place.fraction == HALF and place.whole % 2 == 1)
        ),
        "nearest_away": lambda place, _sign, _chance: place.fraction >= HALF,
        "toward_zero": lambda _place, _sign, _chance: False,
        "up": lambda _place, negative, _chance: not negative,
        "down": lambda _place, negative, _chance: negative,
        "stochastic": lambda place, _sign, chance: chance < place.fraction,
    }
)


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


def tail_bits(fraction: Fraction, most: int) -> str:
    """Return the first bits of what is cut off; shorter when nothing but zeros would follow."""
    bits = ""
    while fraction and len(bits) < most:
        bit, fraction = divmod(fraction * 2, 1)
        bits += str(int(bit))
    return bits


def largest_magnitude(fmt: Format, *, negative: bool) -> int:
    """Return the largest magnitude code of a float, or the largest magnitude of an integer."""
    if isinstance(fmt, FloatFormat):
        return fmt.max_code
    assert isinstance(fmt, IntFormat)  # noqa: S101  a codebook has no magnitudes
    return -fmt.lowest if negative else fmt.highest
