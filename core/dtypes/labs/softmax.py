"""Softmax with every intermediate stored in a format: why the maximum is subtracted first."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from core.dtypes.number_formats.format import Format
from core.dtypes.rounding import Floats

Failure = Literal["", "overflow", "zero_sum"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SoftmaxTrace:
    """Softmax step by step; all arrays are (n,) in the order of the logits.

    Attributes:
        logits: As stored, like all that follows.
        shifted: logits minus what was subtracted from all of them: 0, or their maximum.
        total: The sum of the exponentials, added one by one.
        probabilities: exponentials / total; NaN where it is inf / inf or 0 / 0.
        exact: The softmax of the logits as given, in float64.
        failure: "overflow" if an exponential or the sum is not finite, "zero_sum" if all of them
            were rounded to zero, else "".
    """

    format: str
    logits: Floats
    shifted: Floats
    exponentials: Floats
    total: float
    probabilities: Floats
    exact: Floats
    failure: Failure


def softmax(logits: npt.ArrayLike, fmt: Format, *, stable: bool) -> SoftmaxTrace:
    """Return exp(x) / sum(exp(x)) of finite logits, as the formula says or in the stable way.

    The stable way subtracts the largest logit first, so that no exponential exceeds 1.

    >>> from core.dtypes import FORMATS
    >>> softmax([11.1, 0.0], FORMATS["float16"], stable=False).exponentials
    array([inf,  1.])
    """
    given = np.asarray(logits, dtype=np.float64)
    stored = fmt.round(given)
    # inf - inf and inf / inf are NaN: that is what this lab shows.
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        shifted = fmt.round(stored - (float(stored.max()) if stable else 0.0))
        exponentials = fmt.round(np.exp(shifted))
        total = 0.0
        for term in exponentials:
            total = float(fmt.round(total + term))
        probabilities = fmt.round(exponentials / np.float64(total))
    weights = np.exp(given - given.max())
    return SoftmaxTrace(
        format=fmt.name,
        logits=stored,
        shifted=shifted,
        exponentials=exponentials,
        total=total,
        probabilities=probabilities,
        exact=weights / weights.sum(),
        # One infinite or missing number makes the sum infinite or NaN.
        failure="overflow" if not math.isfinite(total) else "" if total else "zero_sum",
    )
