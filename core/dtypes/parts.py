"""Long arrays in parts that fit the processor's cache."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

CHUNK: Final = 1 << 15  # values at a time: the temporaries of a part stay in the cache


def in_parts(
    act: Callable[[npt.NDArray[Any]], npt.NDArray[Any]],
    array: npt.NDArray[Any],
    dtype: np.dtype[Any],
) -> npt.NDArray[Any]:
    """Return what `act` makes of an array of any shape, given to it a part at a time.

    Args:
        act: One dimension in, as many numbers out.
        array: Any shape.
        dtype: Of the result.
    """
    flat = np.ascontiguousarray(array).reshape(-1)
    made = np.empty(flat.size, dtype)
    for start in range(0, flat.size, CHUNK):
        part = slice(start, start + CHUNK)
        made[part] = act(flat[part])
    return made.reshape(array.shape)
