"""Where torch and ml_dtypes leave the specification, and why: rows of data, with their sources."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from core.dtypes.cast.telling import as_float32
from core.dtypes.formats import FORMATS
from core.dtypes.libraries.library_records import CastRow
from core.language import N_

Library = Literal["torch", "ml_dtypes"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """One reason for another answer.

    Attributes:
        holds: The cast and what the library made of it -> whether this is the reason.
        reason: A sentence to be translated.
        source: Where that is written down or how it was found.
    """

    holds: Callable[[CastRow, float], bool]
    reason: str
    source: str


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
