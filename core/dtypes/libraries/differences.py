"""Where torch and ml_dtypes leave the specification, and why: in casts, and in torch.finfo.

The numbers whose casts tell them apart are computed from each format; the reasons are rows of data
with their sources. No torch is needed here: what it answers comes from a child process.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from core.dtypes.libraries.library_records import CastRow, InfoRow
from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format
from core.dtypes.number_formats.table import FORMATS
from core.language import N_

Source = Literal["float32", "float64"]
Library = Literal["torch", "ml_dtypes"]
CASES: Final[Mapping[str, str]] = {
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
# What torch.finfo and our formats call alike; torch.iinfo knows the first alone.
QUANTITIES: Final = ("max", "smallest_normal", "smallest_subnormal", "eps")


@dataclass(frozen=True, kw_only=True, slots=True)
class Telling:
    """One number to be cast: a key of `CASES`, the dtype that it comes in, and as that holds it."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """One reason for another answer."""

    # the cast and what the library made of it -> whether this is the reason
    holds: Callable[[CastRow, float], bool]
    reason: str  # a sentence to be translated
    source: str  # where that is written down or how it was found


_TRIED: Final = N_("tried here")
DIFFERENCES: Final[tuple[Difference, ...]] = (
    Difference(
        holds=lambda row, theirs: math.isnan(row.ours) and abs(theirs) == FORMATS[row.format].max,
        reason=N_(
            "This library saturates: too large a number, infinity too, becomes the largest one. "
            "The specification allows it (SAT) beside NaN (NONSAT)."
        ),
        source="OCP OFP8 v1.0, table 3; torch since 2.12: pytorch/pytorch PR #178817",
    ),
    Difference(
        holds=lambda row, _theirs: row.format == "float8_e8m0fnu" and row.value < 0,
        reason=N_("The sign is dropped: E8M0 holds scales and has no code for a negative number."),
        source=_TRIED,
    ),
    Difference(
        holds=lambda row, theirs: (
            row.format == "float8_e8m0fnu" and row.value == 0 and math.isnan(theirs)
        ),
        reason=N_("Zero becomes NaN: E8M0 has no zero; the nearest number is 2^-127."),
        source=_TRIED,
    ),
    Difference(
        holds=lambda row, _theirs: (
            row.format == "float8_e8m0fnu" and 2.0**-127 < row.value < 1.5 * 2.0**-127
        ),
        reason=N_(
            "An error of the library: float32 subnormals just above 2^-127 are rounded up to "
            "2^-126, although 2^-127 is nearer."
        ),
        source=N_("all such float32 tried here; the same flaw: microsoft/onnxruntime PR #28435"),
    ),
    Difference(
        holds=lambda row, _theirs: math.isnan(row.value) and not FORMATS[row.format].counts().nans,
        reason=N_("The format has no NaN, so that what becomes of one is not defined."),
        source="OCP Microscaling Formats v1.0, section 5.3",
    ),
    Difference(
        holds=lambda row, theirs: (
            row.source == "float64"
            and bool(FORMATS[row.format].round(as_float32(row.value)) == theirs)
        ),
        reason=N_("The library rounds twice: float64 to float32, and then to this format."),
        source=_TRIED,
    ),
)


def answer_of(row: CastRow, library: Library) -> float | None:
    """Return what a library made of the number; None where it lacks the format."""
    return row.torch if library == "torch" else row.ml_dtypes


def differs(row: CastRow, library: Library) -> bool:
    """Return whether a library made another number of it than the specification."""
    theirs = answer_of(row, library)
    if theirs is None or (math.isnan(theirs) and math.isnan(row.ours)):
        return False
    return theirs != row.ours or math.copysign(1, theirs) != math.copysign(1, row.ours)


def difference_of(row: CastRow, library: Library) -> Difference | None:
    """Return why a library differs; None if it does not, or if nobody knows."""
    theirs = answer_of(row, library)
    if theirs is None or not differs(row, library):
        return None
    return next((each for each in DIFFERENCES if each.holds(row, theirs)), None)


def depends_on_length(row: CastRow) -> bool:
    """Return whether torch writes other bits for one number alone than among 64 of them."""
    return row.torch_code != row.torch_code_long


@dataclass(frozen=True, kw_only=True, slots=True)
class FinfoRow:
    """One number of one dtype, by torch and by the specification."""

    dtype: str
    quantity: str  # one of `QUANTITIES`
    torch: float | None  # what torch.finfo or torch.iinfo says; None when it raises
    ours: float  # the number of the specification
    reason: str  # why they differ, as a sentence to be translated; "" when they agree

    @property
    def agrees(self) -> bool:
        """Whether torch says what the specification says."""
        return self.torch == self.ours


_REASONS: Final[Mapping[tuple[str, str], str]] = {
    ("float8_e5m2fnuz", "eps"): N_(
        "torch is wrong: 1.0 is followed by 1.25, so that the gap is 0.25"
    ),
}
_NOT_THERE: Final = N_("torch.finfo has no such field")
_NOT_MADE: Final = N_("torch knows the dtype by name only")


def finfo_rows(infos: Iterable[InfoRow]) -> tuple[FinfoRow, ...]:
    """Return torch's numbers beside ours, for each dtype that has a format here."""
    return tuple(_row(info, fmt) for info in infos if (fmt := format_of(info.dtype)) is not None)


def format_of(dtype: str) -> Format | None:
    """Return the format of a torch dtype; two E2M1 numbers share a byte under a name of their own.

    >>> format_of("float4_e2m1fn_x2").name
    'float4_e2m1fn'
    """
    return FORMATS.get(dtype.removesuffix("_x2"))


def _row(info: InfoRow, fmt: Format) -> FinfoRow:
    ours = float(getattr(fmt, info.quantity))
    reason = ""
    if info.value is None:
        reason = _NOT_THERE if "has no attribute" in info.message else _NOT_MADE
    elif ours != info.value:
        reason = _REASONS.get((info.dtype, info.quantity), "")
    return FinfoRow(
        dtype=info.dtype, quantity=info.quantity, torch=info.value, ours=ours, reason=reason
    )
