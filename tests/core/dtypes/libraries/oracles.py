"""Who else knows what a code means: torch, ml_dtypes, and specifications typed by hand.

What no library has, or has wrong, is typed by hand and apart from the codec on purpose: the proof
compares the two. Torch and ml_dtypes are imported inside functions: only the child process of the
proof needs them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.dtypes.number_formats.format import Codes, Format
from core.dtypes.number_formats.int_format import IntFormat
from core.dtypes.rounding import Flags, Floats, Overflow

Float32s = npt.NDArray[np.float32]
SPECIFICATION: Final = "the specification, typed by hand"
# Dettmers et al. 2023 (QLoRA), appendix E
NF4_PRINTED: Final = (
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
    *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
    *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
    *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownDifference:
    """Inputs for which a library is known to be wrong, or the format defines nothing.

    Attributes:
        where: float32 inputs -> whether the library may differ there.
        reason: Why, as a sentence.
        source: Where it is written down or how it was found.
    """

    where: Callable[[Float32s], Flags]
    reason: str
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Oracle:
    """Somebody else's codec for one format; either half may be missing.

    Attributes:
        name: "torch 2.13.0", "ml_dtypes 0.6.0" or `SPECIFICATION`.
        encode: float32 numbers -> codes, rounded to nearest, ties to even.
        decode: codes -> float64 numbers.
        overflow: The policy that its `encode` follows.
        known: Where it is known to differ.
    """

    name: str
    encode: Callable[[Float32s], Codes] | None = None
    decode: Callable[[Codes], Floats] | None = None
    overflow: Overflow = "default"
    known: tuple[KnownDifference, ...] = ()


_NO_NAN: Final = KnownDifference(
    where=np.isnan,
    reason="the format has no NaN, so that what becomes of one is not defined",
    source="OCP Microscaling Formats v1.0, section 5.3",
)
_DOUBLE_ROUNDING: Final = KnownDifference(
    where=lambda x: (x > 2.0**-127) & (x < 1.5 * 2.0**-127),
    reason="float32 subnormals just above 2^-127 are rounded up to 2^-126, not to the nearest",
    source="all 2,097,151 inputs tried here; the same flaw: microsoft/onnxruntime PR #28435",
)
_SIGN_DROPPED: Final = KnownDifference(
    where=lambda x: x < 0,
    reason="negative numbers lose their sign; a format of scales has no code for them",
    source="tried here",
)
_ZERO_IS_NAN: Final = KnownDifference(
    where=lambda x: x == 0,
    reason="zero becomes NaN; the format has no zero, and its nearest number is 2^-127",
    source="tried here",
)


def oracles_of(fmt: Format) -> tuple[Oracle, ...]:
    """Return everybody who knows this format; imports torch and ml_dtypes."""
    found = (_specification(fmt), _ml_dtypes(fmt), _torch(fmt))
    return tuple(oracle for oracle in found if oracle is not None)


def _specification(fmt: Format) -> Oracle | None:
    if fmt.name == "float8_e8m0fnu":
        return Oracle(name=SPECIFICATION, encode=e8m0_by_hand, decode=e8m0_numbers)
    if fmt.name == "tf32":
        return Oracle(name=SPECIFICATION, encode=tf32_by_hand, decode=tf32_numbers)
    if fmt.name == "nf4":
        return Oracle(name=SPECIFICATION, decode=lambda codes: np.array(NF4_PRINTED)[codes])
    return None


def _ml_dtypes(fmt: Format) -> Oracle | None:
    import ml_dtypes

    dtype: Any = {"float16": np.float16, "int8": np.int8, "uint8": np.uint8}.get(fmt.name)
    name = f"numpy {np.__version__}"
    if dtype is None:
        dtype, name = getattr(ml_dtypes, fmt.name, None), f"ml_dtypes {ml_dtypes.__version__}"
    if dtype is None or fmt.bits > 16:
        return None

    def encode(values: Float32s) -> Codes:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            return np.asarray(values.astype(dtype).view(fmt.code_dtype))

    def decode(codes: Codes) -> Floats:
        with np.errstate(invalid="ignore"):
            return np.asarray(_narrow(fmt, codes).view(dtype).astype(np.float64))

    if isinstance(fmt, IntFormat):  # numpy and ml_dtypes cut and wrap: no rounding to compare with
        return Oracle(name=name, decode=decode)
    known = {"float8_e8m0fnu": (_DOUBLE_ROUNDING, _ZERO_IS_NAN)}.get(fmt.name, ())
    no_nan = (_NO_NAN,) if fmt.counts().nans == 0 else ()
    return Oracle(name=name, encode=encode, decode=decode, known=(*known, *no_nan))


def _narrow(fmt: Format, codes: Codes) -> npt.NDArray[Any]:
    """Return codes as a library stores them: a signed integer of few bits repeats its sign."""
    if isinstance(fmt, IntFormat) and fmt.signed and fmt.bits < 8:
        shift = 8 - fmt.bits
        return np.asarray((codes << shift).astype(np.int8) >> shift)
    return codes


def _torch(fmt: Format) -> Oracle | None:
    import torch

    name = f"torch {torch.__version__}"
    if isinstance(fmt, IntFormat):

        def whole(values: Float32s) -> Codes:
            rounded = torch.from_numpy(values).round().clamp(fmt.lowest, fmt.highest).nan_to_num(0)
            return np.asarray(rounded.to(torch.int64) & fmt.num_codes - 1).astype(fmt.code_dtype)

        return Oracle(name=name, encode=whole)
    dtype = getattr(torch, fmt.name, None)
    if not isinstance(dtype, torch.dtype) or fmt.bits > 16:
        return None
    as_codes = torch.uint8 if fmt.bits == 8 else torch.int16

    def encode(values: Float32s) -> Codes:
        codes = torch.from_numpy(values).to(dtype).view(as_codes)
        return np.asarray(codes).view(fmt.code_dtype)

    def decode(codes: Codes) -> Floats:
        stored = torch.from_numpy(codes.view(np.uint8 if fmt.bits == 8 else np.int16))
        return np.asarray(stored.view(dtype).to(torch.float64))

    # Since torch 2.12 float8_e4m3fn saturates, infinity included; older ones give NaN: ask it.
    far = np.array([1e30], dtype=np.float32)
    saturates = fmt.counts().nans > 0 and not np.isnan(decode(encode(far)))[0]
    is_saturating = saturates and fmt.counts().infinities == 0 and fmt.name != "float8_e8m0fnu"
    known = (_DOUBLE_ROUNDING, _SIGN_DROPPED) if fmt.name == "float8_e8m0fnu" else ()
    return Oracle(
        name=name,
        encode=encode,
        decode=decode,
        overflow="saturate" if is_saturating else "default",
        known=known,
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
