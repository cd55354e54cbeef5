"""Tensors that make one point about quantization, and how much of a large one is looked at."""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.sample_tensors import SAMPLES, sample_tensor
from core.dtypes.rounding import Floats
from core.language import _

# microxcaling's issue 4: in MXFP8 floor turns the largest value of such a block, 957, into 896.
RAMP_TOP: Final = 957
RAMP_LENGTH: Final = 32
SAMPLE_NAMES: Final = (*SAMPLES, "ramp", "one_nan")
MAX_LOOKED_AT: Final = 1 << 18


def teaching_tensor(name: str, side: int, seed: int) -> npt.NDArray[np.float32]:
    """Return a square sample tensor.

    ramp: every 32 neighbours rise evenly to 957. one_nan: normal, but one value is NaN, as after an
    overflow.

    Args:
        name: One of `SAMPLE_NAMES`.
        side: Rows and columns.
        seed: The same seed gives the same tensor.

    Raises:
        ValueError: If the name is unknown.
    """
    if name == "ramp":
        steps = np.rint(np.arange(1, RAMP_LENGTH + 1) * RAMP_TOP / RAMP_LENGTH)
        return np.resize(steps.astype(np.float32), (side, side))
    if name == "one_nan":
        values = sample_tensor("normal", (side, side), seed)
        values[0, side // 2] = np.nan
        return values
    return sample_tensor(name, (side, side), seed)


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
