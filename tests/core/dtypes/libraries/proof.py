"""The proof that the codec is exact: every code, and every float32 there is, by classes.

Rounding a float32 to a format with m mantissa bits depends on its sign, its exponent, its first
m + 1 mantissa bits, and on whether anything follows. Three numbers of each class (nothing follows,
the least, the most) therefore stand for all 2**32: 3 * 2**(10 + m) of them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Codes, Format
from core.dtypes.number_formats.table import FORMATS
from core.dtypes.rounding import Flags, Floats
from tests.core.dtypes.libraries.oracles import Float32s, Oracle, oracles_of

MOST_DECODED_BITS: Final = 19  # TF32; float32 and float64 have too many codes


@dataclass(frozen=True, kw_only=True, slots=True)
class ProofRow:
    """What one comparison found.

    Attributes:
        oracle: Who was asked; "" for decoding and encoding again, which needs nobody.
        direction: "decode", "encode", or "back": encode(decode(code)) is the code.
        num_known: Inputs for which the oracle is known to be wrong and really was.
    """

    format: str
    oracle: str
    direction: str
    num_mismatches: int
    first_mismatch: str = ""
    num_known: int = 0


def class_inputs(mantissa_bits: int) -> Float32s:
    """Return three float32 numbers of each class: the rest is 0, the least, and the most.

    >>> class_inputs(3).size == 3 * 2**13
    True
    """
    num_rest = 22 - mantissa_bits
    kept = np.arange(1 << (10 + mantissa_bits), dtype=np.uint32) << np.uint32(num_rest)
    rests = np.array([0, 1, (1 << num_rest) - 1], dtype=np.uint32)
    return (kept[:, None] | rests).reshape(-1).view(np.float32)


def inputs_for(fmt: Format) -> Float32s:
    """Return float32 numbers that stand for all 2**32 when rounded to this format.

    E8M0 reaches one binade below the smallest normal float32: there the classes shift, and all
    subnormals are tried instead.
    """
    if fmt.name == "float8_e8m0fnu":
        subnormals = np.arange(1 << 23, dtype=np.uint32).view(np.float32)
        return np.concatenate([class_inputs(0), subnormals, -subnormals])
    # An integer of w bits keeps at most w of them; one more is the guard bit.
    return class_inputs(fmt.mantissa_bits if isinstance(fmt, FloatFormat) else fmt.bits)


def prove(formats: Iterable[Format]) -> Iterator[ProofRow]:
    """Compare the codec with every oracle of each format; a row as soon as it is known."""
    for fmt in formats:
        if fmt.bits > MOST_DECODED_BITS:
            continue
        yield prove_back(fmt)
        yield from prove_format(fmt, oracles_of(fmt))


def prove_controls() -> Iterator[ProofRow]:
    """Compare codecs that are wrong on purpose: a proof that cannot fail proves nothing."""
    e4m3, bfloat16 = FORMATS["float8_e4m3fn"], FORMATS["bfloat16"]
    assert isinstance(e4m3, FloatFormat)
    assert isinstance(bfloat16, FloatFormat)
    for right, wrong in (
        (e4m3, replace(e4m3, bias=8)),
        (e4m3, replace(e4m3, num_nans=2)),
        (bfloat16, replace(bfloat16, subnormals=False)),
    ):
        yield from prove_format(wrong, oracles_of(right))


def prove_back(fmt: Format) -> ProofRow:
    """Encode what every code means: the code must come back; NaN codes may change among them."""
    codes = np.arange(fmt.num_codes, dtype=fmt.code_dtype)
    values = fmt.decode(codes)
    back = fmt.encode(values)
    same = (back == codes) | (np.isnan(values) & np.isnan(fmt.decode(back)))
    return ProofRow(
        format=fmt.name,
        oracle="",
        direction="back",
        num_mismatches=int((~same).sum()),
        first_mismatch=_first(codes, back, codes, ~same),
    )


def prove_format(fmt: Format, oracles: Iterable[Oracle]) -> Iterator[ProofRow]:
    """Compare decoding of all codes and encoding of all float32 classes with each oracle."""
    codes = np.arange(fmt.num_codes, dtype=fmt.code_dtype)
    for oracle in oracles:
        if oracle.decode is not None:
            yield _decoded(fmt, oracle, codes)
        if oracle.encode is not None:
            yield _encoded(fmt, oracle, inputs_for(fmt))


def _decoded(fmt: Format, oracle: Oracle, codes: Codes) -> ProofRow:
    assert oracle.decode is not None
    ours, theirs = fmt.decode(codes), oracle.decode(codes)
    differs = ~_same(ours, theirs)
    return ProofRow(
        format=fmt.name,
        oracle=oracle.name,
        direction="decode",
        num_mismatches=int(differs.sum()),
        first_mismatch=_first(codes, ours, theirs, differs),
    )


def _encoded(fmt: Format, oracle: Oracle, inputs: Float32s) -> ProofRow:
    assert oracle.encode is not None
    with np.errstate(invalid="ignore"):  # signalling NaNs are among all float32 numbers
        ours = fmt.encode(inputs, overflow=oracle.overflow)
        theirs = oracle.encode(inputs)
    differs = _codes_differ(fmt, oracle, ours, theirs)
    known = [each for each in oracle.known if (differs & each.where(inputs)).any()]
    wrong = differs.copy()
    for each in known:
        wrong &= ~each.where(inputs)
    return ProofRow(
        format=fmt.name,
        oracle=oracle.name,
        direction="encode",
        num_mismatches=int(wrong.sum()),
        first_mismatch=_first(inputs, ours, theirs, wrong),
        num_known=int((differs & ~wrong).sum()),
    )


def _codes_differ(fmt: Format, oracle: Oracle, ours: Codes, theirs: Codes) -> Flags:
    """Compare codes, but of NaNs only that they are: torch writes other ones in long arrays."""
    codes = np.arange(fmt.num_codes, dtype=fmt.code_dtype)
    our_nan = np.isnan(fmt.decode(codes))
    their_nan = our_nan if oracle.decode is None else np.isnan(oracle.decode(codes))
    is_nan, is_theirs = our_nan[ours], their_nan[theirs]
    differs: Flags = np.where(is_nan | is_theirs, is_nan != is_theirs, ours != theirs)
    return differs


def _same(ours: Floats, theirs: Floats) -> Flags:
    both_nan = np.isnan(ours) & np.isnan(theirs)
    same: Flags = both_nan | ((ours == theirs) & (np.signbit(ours) == np.signbit(theirs)))
    return same


def _first(inputs: Any, ours: Any, theirs: Any, differs: Flags) -> str:
    if not differs.any():
        return ""
    place = int(np.argmax(differs))
    return f"{inputs[place]!s} -> {ours[place]!s}, not {theirs[place]!s}"
