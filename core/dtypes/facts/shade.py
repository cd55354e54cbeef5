"""How strong a code's colour is in the map of all codes: the larger its number, the stronger."""

import numpy as np

from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format


def magnitude_share(fmt: Format, code: int) -> float:
    """Return 0 for the smallest numbers of a format and 1 for the largest.

    Of floating point one step is a power of two, and all subnormal numbers are the smallest; other
    numbers are counted by their size. Infinity and NaN, which are no numbers, count as the largest.

    >>> from core.dtypes import FORMATS
    >>> magnitude_share(FORMATS["float4_e2m1fn"], 0b0110), magnitude_share(FORMATS["int4"], 0b0100)
    (1.0, 0.5)
    """
    if isinstance(fmt, FloatFormat):
        magnitude = code & (2**fmt.magnitude_bits - 1)
        steps = magnitude >> fmt.mantissa_bits
        return float(min(steps / (fmt.max_code >> fmt.mantissa_bits), 1.0))
    value = float(fmt.decode(np.array([code]))[0])
    return float(abs(value) / max(abs(fmt.max), abs(fmt.min)))
