"""Softmax with every intermediate stored in a format: why the maximum is subtracted first."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from core.dtypes.number_formats.format import Format
from core.dtypes.rounding import Floats
from core.language import _

Failure = Literal["", "overflow", "zero_sum"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SoftmaxTrace:
    """Softmax step by step; all arrays are (n,) in the order of the logits.

    Attributes:
        format: Name of the format of every intermediate.
        logits: As stored.
        shift: What was subtracted from all of them: 0, or their maximum.
        shifted: logits - shift, as stored.
        exponentials: exp(shifted), as stored.
        total: Their sum, added one by one, as stored.
        probabilities: exponentials / total, as stored; NaN where it is inf / inf or 0 / 0.
        exact: The softmax of the logits as given, in float64.
        failure: "overflow" if an exponential or the sum is not finite, "zero_sum" if all of them
            were rounded to zero, else "".
    """

    format: str
    logits: Floats
    shift: float
    shifted: Floats
    exponentials: Floats
    total: float
    probabilities: Floats
    exact: Floats
    failure: Failure


def softmax_naive(logits: npt.ArrayLike, fmt: Format) -> SoftmaxTrace:
    """Return exp(x) / sum(exp(x)), as the formula says.

    Raises:
        ValueError: If there is no logit, or one is not finite.

    >>> from core.dtypes import FORMATS
    >>> softmax_naive([11.1, 0.0], FORMATS["float16"]).exponentials
    array([inf,  1.])
    """
    return _softmax(logits, fmt, stable=False)


def softmax_stable(logits: npt.ArrayLike, fmt: Format) -> SoftmaxTrace:
    """Return the softmax after subtracting the largest logit, so that no exponential exceeds 1.

    Raises:
        ValueError: If there is no logit, or one is not finite.
    """
    return _softmax(logits, fmt, stable=True)


def _softmax(logits: npt.ArrayLike, fmt: Format, *, stable: bool) -> SoftmaxTrace:
    given = np.asarray(logits, dtype=np.float64).reshape(-1)
    if given.size == 0 or not np.isfinite(given).all():
        raise ValueError(_("A softmax needs at least one logit, and all of them finite."))
    stored = fmt.round(given)
    shift = float(stored.max()) if stable else 0.0
    # inf - inf and inf / inf are NaN: that is what this lab shows.
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        shifted = fmt.round(stored - shift)
        exponentials = fmt.round(np.exp(shifted))
        total = 0.0
        for term in exponentials:
            total = float(fmt.round(total + term))
        probabilities = fmt.round(exponentials / np.float64(total))
    # One infinite or missing number makes the sum infinite or NaN.
    failure: Failure = "overflow" if not math.isfinite(total) else "" if total else "zero_sum"
    weights = np.exp(given - given.max())
    return SoftmaxTrace(
        format=fmt.name,
        logits=stored,
        shift=shift,
        shifted=shifted,
        exponentials=exponentials,
        total=total,
        probabilities=probabilities,
        exact=weights / weights.sum(),
        failure=failure,
    )
