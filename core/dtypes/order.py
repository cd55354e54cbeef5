"""The finite numbers of a format from the lowest to the largest: +0 and -0 share one place."""

from dataclasses import dataclass
from fractions import Fraction

from core.dtypes.exact import to_float
from core.dtypes.float_format import FloatFormat
from core.dtypes.format import Format
from core.dtypes.int_format import IntFormat


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbour:
    """A finite number of a format beside another."""

    code: int
    exact: Fraction

    @property
    def value(self) -> float:
        """The number as float64."""
        return to_float(self.exact)


def num_finite(fmt: Format) -> int:
    """Return how many different finite numbers a format has."""
    counts = fmt.counts()
    return counts.finite - max(counts.zeros - 1, 0)


def place_of(fmt: Format, code: int) -> int:
    """Return how many finite numbers of the format are smaller than that of a finite code.

    >>> from core.dtypes import FORMATS
    >>> place_of(FORMATS["int8"], 0x80), place_of(FORMATS["float4_e2m1fn"], 0)
    (0, 7)
    """
    if isinstance(fmt, IntFormat):
        return (code - fmt.num_codes if fmt.is_negative(code) else code) - fmt.lowest
    if not isinstance(fmt, FloatFormat):
        return code
    magnitude = code & (1 << fmt.magnitude_bits) - 1
    rank = max(magnitude - _first_magnitude(fmt) + 1, 0)
    return _place_of_zero(fmt) + (-rank if fmt.is_negative(code) else rank)


def number_at(fmt: Format, place: int) -> Neighbour | None:
    """Return the number with `place` smaller ones; None beyond either end."""
    if not 0 <= place < num_finite(fmt):
        return None
    code = _code_at(fmt, place)
    exact = fmt.exact(code)
    assert isinstance(exact, Fraction)  # noqa: S101  every place belongs to a finite number
    return Neighbour(code=code, exact=exact)


def _code_at(fmt: Format, place: int) -> int:
    if isinstance(fmt, IntFormat):
        return (place + fmt.lowest) % fmt.num_codes
    if not isinstance(fmt, FloatFormat):
        return place
    rank = place - _place_of_zero(fmt)
    if rank == 0 and fmt.zero:
        return 0
    magnitude = _first_magnitude(fmt) + abs(rank) - 1
    return magnitude | (1 << fmt.magnitude_bits if rank < 0 else 0)


def _first_magnitude(fmt: FloatFormat) -> int:
    """Return the code of the smallest positive number."""
    if not fmt.zero:
        return 0
    return 1 if fmt.subnormals else 1 << fmt.mantissa_bits


def _place_of_zero(fmt: FloatFormat) -> int:
    """Return the place of zero; -1 in an unsigned format that has none."""
    if fmt.signed:
        return fmt.max_code - _first_magnitude(fmt) + 1
    return 0 if fmt.zero else -1
