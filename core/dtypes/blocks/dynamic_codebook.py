"""The 8-bit dynamic codebook, in which bitsandbytes stores the scales of NF4 a second time."""

from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.codebook_format import CodebookFormat

_DECADES: Final = 7  # the leading zeros of a code count powers of ten: 1e-6 to 1


def decade_means(num_means: int) -> npt.NDArray[np.float32]:
    """Return the middles of equal steps from 0.1 to 1, in float32 as the authors' code has them.

    Torch's linspace counts from the nearer end, and rounds once where it multiplies and adds (a
    fused multiply-add; float64 holds the product here): the last bits of the table depend on both.
    """
    start, end = np.float32(0.1), np.float32(1)
    step = np.float64((end - start) / np.float32(num_means))
    places = np.arange(num_means + 1, dtype=np.float64)
    from_start, from_end = start + step * places, end - step * (num_means - places)
    bounds = np.where(places < (num_means + 1) // 2, from_start, from_end).astype(np.float32)
    return (bounds[:-1] + bounds[1:]) / np.float32(2)


def dynamic_values() -> tuple[float, ...]:
    """Return the 256 numbers of the signed dynamic codebook, ascending.

    Each decade has twice as many numbers as the one below it: 1 within (1e-7, 1e-6], 64 within
    (0.1, 1], on both sides of zero; zero and 1 itself complete them.
    Source: Dettmers 2016, 8-Bit Approximations for Parallelism in Deep Learning, section 2;
    bitsandbytes 0.50.2, create_dynamic_map.
    """
    positive = [
        float(mean)
        for decade in range(_DECADES)
        for mean in np.float32(10.0 ** (decade - _DECADES + 1)) * decade_means(2**decade)
    ]
    return tuple(sorted([*positive, *(-value for value in positive), 0.0, 1.0]))


DYNAMIC8: Final = CodebookFormat(
    name="dynamic8",
    values=dynamic_values(),
    source="Dettmers 2016, 8-Bit Approximations for Parallelism in Deep Learning, section 2",
)
