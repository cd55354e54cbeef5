"""Where the finite numbers of a format lie: their order, equal distances, and ends of ranges."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from core.dtypes.exact import to_float
from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format
from core.dtypes.number_formats.int_format import IntFormat
from core.dtypes.rounding import Floats

MAX_TICKS: Final = 256  # more marks than this in one row are a grey band anyway
MAX_STRETCHES: Final = 300
_THINNED: Final = 4  # where numbers are too many, a quarter of the marks is enough to be seen apart


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbour:
    """A finite number of a format beside another."""

    code: int
    exact: Fraction

    @property
    def value(self) -> float:
        """The number as float64."""
        return to_float(self.exact)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """Positive numbers of one format that are equally far apart.

    Attributes:
        high: The largest number of the format that the distance leads to: where the next begins.
    """

    low: float
    high: float
    gap: float

    @property
    def num_gaps(self) -> float:
        """How many distances there are from `low` to `high`."""
        return (self.high - self.low) / self.gap


class Ranges(NamedTuple):
    """Up to where a magnitude becomes zero, loses bits to the subnormals, and does not overflow."""

    zero: float
    subnormal: float
    overflow: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Marks:
    """The numbers of a format in a part of the line, or some of them in even steps.

    Attributes:
        values: What is marked, ascending.
        num_numbers: How many numbers of the format lie there.
        every: 1 where each of them is marked; else one in so many, a power of two counted from
            zero: the marked ones are those whose last bits are 0, or only powers of two.
    """

    values: tuple[float, ...]
    num_numbers: int
    every: int


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
    rank = max(magnitude - fmt.min_code + 1, 0)
    return _place_of_zero(fmt) + (-rank if fmt.is_negative(code) else rank)


def number_at(fmt: Format, place: int) -> Neighbour | None:
    """Return the number with `place` smaller ones; None beyond either end."""
    if not 0 <= place < num_finite(fmt):
        return None
    code = _code_at(fmt, place)
    exact = fmt.exact(code)
    assert isinstance(exact, Fraction)  # noqa: S101  every place belongs to a finite number
    return Neighbour(code=code, exact=exact)


@lru_cache(maxsize=64)
def stretches(fmt: Format) -> tuple[Stretch, ...]:
    """Return the positive numbers of a format as stretches, the smallest first."""
    if isinstance(fmt, FloatFormat):
        return tuple(_binades(fmt))
    if isinstance(fmt, IntFormat):
        return (Stretch(low=fmt.eps, high=fmt.max, gap=fmt.eps),)
    positive = [value for value in finite_values(fmt).tolist() if value > 0]
    return tuple(Stretch(low=low, high=high, gap=high - low) for low, high in pairwise(positive))


def some_stretches(fmt: Format) -> tuple[Stretch, ...]:
    """Return at most 300 stretches, evenly chosen; the lowest two and the highest among them.

    float64 has 2,047 of them: no screen is as wide as that.
    """
    found = stretches(fmt)
    if len(found) <= MAX_STRETCHES:
        return found
    step = -(-len(found) // (MAX_STRETCHES - 3))
    return (found[0], *found[1:-1:step], found[-1])


def finite_values(fmt: Format) -> Floats:
    """Return every finite number of a format of at most 16 bits, ascending, zero once."""
    values = fmt.decode(np.arange(fmt.num_codes, dtype=fmt.code_dtype))
    return np.unique(values[np.isfinite(values)])


def marks_between(fmt: Format, low: float, high: float, most: int = MAX_TICKS) -> Marks:
    """Return every number of a format from `low` to `high`; of more than `most`, some.

    >>> from core.dtypes import FORMATS
    >>> marks_between(FORMATS["float8_e4m3fn"], 1, 1.5).values
    (1.0, 1.125, 1.25, 1.375, 1.5)
    """
    places = _places_between(fmt, low, high)
    count, every = places.stop - places.start, 1  # `len` ends at 2**63
    powers = 1 << fmt.mantissa_bits if isinstance(fmt, FloatFormat) else 1
    if count > most:
        while count // every + 1 > (max(most // _THINNED, 2) if every < powers else most):
            every *= 2
    first = places.start + (_anchor(fmt) - places.start) % every
    some = range(first, places.stop, every)
    return Marks(values=_values_at(fmt, some), num_numbers=count, every=every)


def ranges(fmt: Format) -> Ranges:
    """Return where a format's zero, subnormals, normals and overflow begin."""
    has_subnormals = fmt.smallest_subnormal < fmt.smallest_normal
    has_zero = not isinstance(fmt, FloatFormat) or fmt.zero
    zero = fmt.smallest_subnormal / 2 if has_zero else 0.0
    return Ranges(zero, fmt.smallest_normal if has_subnormals else zero, _overflow(fmt))


def _places_between(fmt: Format, low: float, high: float) -> range:
    low, high = max(low, fmt.min), min(high, fmt.max)
    if low > high:
        return range(0)
    first = place_of(fmt, int(fmt.encode(low, "up")))
    last = place_of(fmt, int(fmt.encode(high, "down")))
    return range(first, max(last + 1, first))


def _values_at(fmt: Format, places: range) -> tuple[float, ...]:
    found = (number_at(fmt, place) for place in places)
    return tuple(each.value for each in found if each is not None)


def _anchor(fmt: Format) -> int:
    if isinstance(fmt, IntFormat):
        return -fmt.lowest
    return max(_place_of_zero(fmt), 0) if isinstance(fmt, FloatFormat) else 0


def _code_at(fmt: Format, place: int) -> int:
    if isinstance(fmt, IntFormat):
        return (place + fmt.lowest) % fmt.num_codes
    if not isinstance(fmt, FloatFormat):
        return place
    rank = place - _place_of_zero(fmt)
    if rank == 0 and fmt.zero:
        return 0
    magnitude = fmt.min_code + abs(rank) - 1
    return magnitude | (1 << fmt.magnitude_bits if rank < 0 else 0)


def _place_of_zero(fmt: FloatFormat) -> int:
    """Return the place of zero; -1 in an unsigned format that has none."""
    if fmt.signed:
        return fmt.max_code - fmt.min_code + 1
    return 0 if fmt.zero else -1


def _binades(fmt: FloatFormat) -> list[Stretch]:
    found = []
    if fmt.smallest_subnormal < fmt.smallest_normal:
        low, high = fmt.smallest_subnormal, fmt.smallest_normal
        found.append(Stretch(low=low, high=high, gap=low))
    for exponent in range(fmt.min_exponent, fmt.max_exponent + 1):
        start = Fraction(2) ** exponent
        end = min(2 * start, fmt.exact_magnitude(fmt.max_code))
        gap = start / (1 << fmt.mantissa_bits)
        if end > start:
            found.append(Stretch(low=to_float(start), high=to_float(end), gap=to_float(gap)))
    return found


def _overflow(fmt: Format) -> float:
    if isinstance(fmt, FloatFormat):
        last = fmt.exact_magnitude(fmt.max_code)
        return to_float((last + fmt.exact_magnitude(fmt.max_code + 1)) / 2)
    return fmt.max + fmt.eps / 2 if isinstance(fmt, IntFormat) else fmt.max
