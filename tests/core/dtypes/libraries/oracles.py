"""Who else knows what a code means: torch, ml_dtypes, and specifications typed by hand.

What no library has, or has wrong, is typed by hand and apart from the codec on purpose: the proof
compares the two.
"""

from collections.abc import Callable
from typing import NamedTuple

import ml_dtypes
import numpy as np
import torch

from core.dtypes import IntFormat

SPECIFICATION = "the specification, typed by hand"
# Dettmers et al. 2023 (QLoRA), appendix E
NF4_PRINTED = (
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
    *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
    *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
    *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
)


class Oracle(NamedTuple):
    """Somebody else's codec; `known` says for which float32 inputs it is known to be wrong."""

    name: str
    encode: Callable | None = None  # rounded to nearest, ties to even
    decode: Callable | None = None
    overflow: str = "default"  # the rule that `encode` follows
    known: tuple[Callable, ...] = ()


def double_rounding(x):
    """float32 subnormals just above 2^-127 go up to 2^-126; see microsoft/onnxruntime PR #28435."""
    return (x > 2.0**-127) & (x < 1.5 * 2.0**-127)


def oracles_of(fmt):
    """Return everybody who knows this format."""
    found = (SPECIFIED.get(fmt.name), by_ml_dtypes(fmt), by_torch(fmt))
    return tuple(oracle for oracle in found if oracle is not None)


def by_ml_dtypes(fmt):
    dtype = {"float16": np.float16, "int8": np.int8, "uint8": np.uint8}.get(fmt.name)
    name = f"numpy {np.__version__}"
    if dtype is None:
        dtype, name = getattr(ml_dtypes, fmt.name, None), f"ml_dtypes {ml_dtypes.__version__}"
    if dtype is None or fmt.bits > 16:
        return None

    def encode(values):
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            return values.astype(dtype).view(fmt.code_dtype)

    def decode(codes):
        with np.errstate(invalid="ignore"):
            return narrow(fmt, codes).view(dtype).astype(np.float64)

    if isinstance(fmt, IntFormat):  # numpy and ml_dtypes cut and wrap: no rounding to compare with
        return Oracle(name, decode=decode)
    # What becomes of NaN where there is none is not defined: OCP Microscaling v1.0, section 5.3.
    known = () if fmt.counts().nans else (np.isnan,)
    if fmt.name == "float8_e8m0fnu":  # and its zero becomes NaN, though 2^-127 is the nearest
        known = (double_rounding, lambda x: x == 0)
    return Oracle(name, encode, decode, known=known)


def narrow(fmt, codes):
    """Codes as a library stores them: a signed integer of few bits repeats its sign."""
    if isinstance(fmt, IntFormat) and fmt.signed and fmt.bits < 8:
        return (codes << 8 - fmt.bits).astype(np.int8) >> 8 - fmt.bits
    return codes


def by_torch(fmt):
    name = f"torch {torch.__version__}"
    if isinstance(fmt, IntFormat):

        def whole(values):
            rounded = torch.from_numpy(values).round().clamp(fmt.lowest, fmt.highest).nan_to_num(0)
            return np.asarray(rounded.to(torch.int64) & fmt.num_codes - 1).astype(fmt.code_dtype)

        return Oracle(name, whole)
    dtype = getattr(torch, fmt.name, None)
    if not isinstance(dtype, torch.dtype) or fmt.bits > 16:
        return None

    def encode(values):
        stored = torch.from_numpy(values).to(dtype)
        return np.asarray(stored.view(getattr(torch, f"uint{fmt.bits}"))).view(fmt.code_dtype)

    def decode(codes):
        return np.asarray(torch.from_numpy(codes).view(dtype).to(torch.float64))

    if fmt.name == "float8_e8m0fnu":  # negative numbers lose their sign
        return Oracle(name, encode, decode, known=(double_rounding, lambda x: x < 0))
    # Since torch 2.12 float8_e4m3fn saturates, infinity included; older ones give NaN: ask it.
    far = decode(encode(np.array([1e30], dtype=np.float32)))
    saturates = fmt.counts().infinities == 0 and not np.isnan(far)[0]
    return Oracle(name, encode, decode, "saturate" if saturates else "default")


def e8m0_by_hand(values):
    """The nearest power of two, 2^(code - 127); a tie goes up, where 10 is the even one.

    OCP Microscaling Formats v1.0, section 5.4: no sign, no zero, no infinity, 0xFF is NaN.
    """
    ties = np.ldexp(1.5, np.arange(-127, 128))  # between code and code + 1; the last one overflows
    codes = np.searchsorted(ties, np.abs(values.astype(np.float64)), side="right")
    return np.where(np.isnan(values) | (values < 0), 255, codes).astype(np.uint8)


def e8m0_numbers(codes):
    return np.where(codes == 255, np.nan, np.ldexp(1.0, codes.astype(np.int64) - 127))


def tf32_by_hand(values):
    """The upper 19 bits of float32, rounded to even in whole-number arithmetic."""
    bits = values.view(np.uint32).astype(np.uint64)
    odd = bits >> np.uint64(13) & np.uint64(1)
    codes = (bits + np.uint64(0xFFF) + odd) >> np.uint64(13)
    return np.where(np.isnan(values), 0x3FE00, codes).astype(np.uint32)


def tf32_numbers(codes):
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return (codes.astype(np.uint32) << np.uint32(13)).view(np.float32).astype(np.float64)


SPECIFIED = {
    "float8_e8m0fnu": Oracle(SPECIFICATION, e8m0_by_hand, e8m0_numbers),
    "tf32": Oracle(SPECIFICATION, tf32_by_hand, tf32_numbers),
    "nf4": Oracle(SPECIFICATION, decode=lambda codes: np.array(NF4_PRINTED)[codes]),
}
