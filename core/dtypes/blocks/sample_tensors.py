"""Tensors to quantize, made from a seed, and how much of a large one is looked at.

Some have the shapes that weights and activations have, others make one point.
"""

import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.rounding import Floats
from core.language import _

SPREAD: Final = 0.02  # the standard deviation of GPT-2's weights before training
OUTLIER_SHARE: Final = 0.001
OUTLIER_FACTOR: Final = 50
# microxcaling's issue 4: in MXFP8 floor turns the largest value of such a block, 957, into 896.
RAMP_TOP: Final = 957
RAMP_LENGTH: Final = 32
MAX_VALUES: Final = 1 << 24
MAX_LOOKED_AT: Final = 1 << 18
Shape = tuple[int, ...]


def _with_outliers(rng: np.random.Generator, shape: Shape) -> Floats:
    values = rng.normal(0, SPREAD, shape)
    return np.where(rng.random(shape) < OUTLIER_SHARE, values * OUTLIER_FACTOR, values)


def _ramp(_rng: np.random.Generator, shape: Shape) -> Floats:
    return np.resize(np.rint(np.arange(1, RAMP_LENGTH + 1) * RAMP_TOP / RAMP_LENGTH), shape)


def _with_one_nan(rng: np.random.Generator, shape: Shape) -> Floats:
    values = rng.normal(0, SPREAD, shape)
    values[0, shape[1] // 2] = np.nan
    return values


_MAKERS: Final[Mapping[str, Callable[[np.random.Generator, Shape], Floats]]] = {
    "normal": lambda rng, shape: rng.normal(0, SPREAD, shape),
    "heavy_tailed": lambda rng, shape: SPREAD * rng.standard_t(4, shape),
    "with_outliers": _with_outliers,
    "laplace": lambda rng, shape: rng.laplace(0, SPREAD / np.sqrt(2), shape),
    "all_zero": lambda _rng, shape: np.zeros(shape),
    "ramp": _ramp,
    "one_nan": _with_one_nan,
}
SAMPLE_NAMES: Final = tuple(_MAKERS)


def teaching_tensor(name: str, side: int, seed: int) -> npt.NDArray[np.float32]:
    """Return a square tensor, the same for the same seed.

    normal: N(0, 0.02), as weights start. heavy_tailed: 0.02 times Student's t with 4 degrees of
    freedom, as gradients spread. with_outliers: normal, but one value in a thousand is 50 times as
    large, as in the activations of large models. laplace: the same standard deviation with a
    sharper peak. all_zero: what a scale has to survive. ramp: every 32 neighbours rise evenly to
    957. one_nan: normal, but one value is NaN, as after an overflow.
    """
    return _MAKERS[name](np.random.default_rng(seed), (side, side)).astype(np.float32)


def looked_at(x: npt.NDArray[np.floating]) -> Floats:
    """Return a tensor as (rows, columns) in float64, cut to its first 262,144 values or fewer.

    Whole rows are kept where they fit, because blocks run along them.

    Raises:
        ValueError: If it holds no value.
    """
    if x.size == 0:
        message = _("The tensor of shape {shape} holds no value; choose one with at least one.")
        raise ValueError(message.format(shape=x.shape))
    num_columns = x.shape[-1] if x.ndim else 1
    rows = x.reshape(math.prod(x.shape[:-1]), num_columns)
    kept = rows[: max(MAX_LOOKED_AT // num_columns, 1), :MAX_LOOKED_AT]
    return np.ascontiguousarray(kept, dtype=np.float64)
