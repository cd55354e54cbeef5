"""What no library has, or has wrong, typed by hand from the specifications: E8M0, TF32 and NF4.

Written apart from the codec on purpose: the proof compares the two.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.format import Codes
from core.dtypes.rounding import Floats

Float32s = npt.NDArray[np.float32]

# Dettmers et al. 2023 (QLoRA), appendix E
NF4_PRINTED: Final = (
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
    *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
    *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
    *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
)


def e8m0_by_hand(values: Float32s) -> Codes:
    """Return the nearest power of two, 2^(code - 127); a tie goes up, where 10 is the even one.

    Source: OCP Microscaling Formats v1.0, section 5.4: no sign, no zero, no infinity, 0xFF is NaN.
    """
    ties = np.ldexp(1.5, np.arange(-127, 128))  # between code and code + 1; the last one overflows
    codes = np.searchsorted(ties, np.abs(values.astype(np.float64)), side="right")
    is_nan = np.isnan(values) | (values < 0)
    return np.where(is_nan, 255, codes).astype(np.uint8)


def e8m0_numbers(codes: Codes) -> Floats:
    """Return 2^(code - 127)."""
    numbers = np.ldexp(1.0, codes.astype(np.int64) - 127)
    return np.where(codes == 255, np.nan, numbers)


def tf32_by_hand(values: Float32s) -> Codes:
    """Return the upper 19 bits of float32, rounded to even in whole-number arithmetic.

    Source: NVIDIA A100 whitepaper: float32 with 10 mantissa bits.
    """
    bits = values.view(np.uint32).astype(np.uint64)
    odd = bits >> np.uint64(13) & np.uint64(1)
    codes = (bits + np.uint64(0xFFF) + odd) >> np.uint64(13)
    return np.where(np.isnan(values), 0x3FE00, codes).astype(np.uint32)


def tf32_numbers(codes: Codes) -> Floats:
    """Return the float32 whose upper 19 bits are these."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return (codes.astype(np.uint32) << np.uint32(13)).view(np.float32).astype(np.float64)
