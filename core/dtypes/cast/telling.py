"""Numbers that tell formats, libraries and specifications apart; computed from each format."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

import numpy as np

from core.dtypes.float_format import FloatFormat
from core.language import N_

Source = Literal["float32", "float64"]
CASES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "reader": N_("the number at the top of the page"),
        "tie": N_("half a step above the largest"),
        "over_tie": N_("just over that half step"),
        "far": N_("far too large"),
        "infinity": N_("infinity"),
        "minus_infinity": N_("minus infinity"),
        "nan": N_("NaN"),
        "minus_zero": N_("minus zero"),
        "zero": N_("zero"),
        "minus_one": N_("minus one"),
        "half_smallest": N_("half of the smallest number"),
        "over_half_smallest": N_("just over half of the smallest"),
        "subnormal_tie": N_("one and a half times the smallest"),
        "between_scales": N_("between the two smallest powers of two"),
        "double_rounding": N_("a float64 just over a tie"),
        "nan_float64": N_("NaN that comes as float64"),
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Telling:
    """One number to be cast.

    Attributes:
        case: A key of `CASES`.
        source: The dtype that it comes in.
        value: The number, as that dtype holds it.
    """

    case: str
    source: Source
    value: float


def telling_values(fmt: FloatFormat) -> tuple[Telling, ...]:
    """Return the numbers whose casts to this format tell most."""
    found = [Telling(case=case, source="float32", value=value) for case, value in _singles(fmt)]
    # float32 cannot hold it and would make it a tie, which goes down: rounding twice shows.
    twice = 1.0 + fmt.eps / 2 + 2.0**-40
    if fmt.mantissa_bits:
        found.append(Telling(case="double_rounding", source="float64", value=twice))
    return (*found, Telling(case="nan_float64", source="float64", value=float("nan")))


def _singles(fmt: FloatFormat) -> Iterator[tuple[str, float]]:
    top = 2.0**fmt.max_exponent
    tie = fmt.max + top * 2.0 ** -(fmt.mantissa_bits + 1)
    yield "tie", as_float32(tie)
    yield "over_tie", as_float32(np.nextafter(np.float32(tie), np.float32(np.inf)))
    yield "far", float(np.finfo(np.float32).max)
    yield from (("infinity", float("inf")), ("minus_infinity", float("-inf")))
    yield from (("nan", float("nan")), ("minus_zero", -0.0), ("minus_one", -1.0))
    if not fmt.zero:
        yield "zero", 0.0
        yield "between_scales", 1.25 * fmt.smallest_normal
        return
    half = fmt.smallest_subnormal / 2
    yield "half_smallest", as_float32(half)
    yield "over_half_smallest", as_float32(np.nextafter(np.float32(half), np.float32(np.inf)))
    yield "subnormal_tie", as_float32(1.5 * fmt.smallest_subnormal)


def reader_values(value: float) -> tuple[Telling, ...]:
    """Return the reader's number as float32 and, if that is another one, as float64 too."""
    single = as_float32(value)
    found = [Telling(case="reader", source="float32", value=single)]
    if single != value and value == value:  # noqa: PLR0124  NaN is not equal to itself
        found.append(Telling(case="reader", source="float64", value=value))
    return tuple(found)


def as_float32(value: float | np.float32) -> float:
    """Return the float32 nearest to a number; too large a one becomes infinity."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))
