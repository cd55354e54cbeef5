"""The scale of each block, and from values and scales to codes, for all kinds of block formats.

The arithmetic is float32, in which scales and codes are bit-identical to those of libraries.
"""

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.block_layout import BlockLayout, NestedScales, Scales
from core.dtypes.blocks.scale_rules import ScaleRule, shared_exponents, top_gap
from core.dtypes.number_formats.format import Codes, Format
from core.dtypes.rounding import Flags, Floats
from core.language import _

Blocks = npt.NDArray[np.float32]


def as_single(x: npt.ArrayLike) -> Blocks:
    """Return real numbers as float32; what is beyond float32 becomes infinite.

    Raises:
        ValueError: If they are not real numbers.
    """
    array = np.asarray(x)
    if array.dtype.kind not in "fiub":
        raise ValueError(
            _("A tensor of {dtype} cannot be quantized: use real numbers.").format(
                dtype=array.dtype
            )
        )
    with np.errstate(over="ignore"):
        return array.astype(np.float32)


def find_scales(fmt: BlockLayout, blocks: Blocks, rule: ScaleRule) -> Scales:
    """Return the scales of values given as (rows, blocks, values per block)."""
    if not fmt.symmetric:
        return _affine(fmt, blocks)
    amax = np.abs(blocks).max(axis=-1, initial=0).astype(np.float64)
    if rule != "amax":
        return _power_of_two(fmt, amax, rule)
    if fmt.double_quant:
        return store_scales(amax, fmt.scale, fmt.double_quant)
    return _largest_fits(fmt, amax)


def store_scales(
    amax: Floats, codebook: Format, block_size: int, offset: float | None = None
) -> Scales:
    """Return scales that are codes themselves, of their distance from their mean.

    Blocks of scales run through the whole tensor, row after row. A NaN or an infinity among the
    scales makes the mean NaN, and so every scale. Values are still divided by `amax` itself.
    Source: bitsandbytes 0.50.2, quantize_4bit(compress_statistics=True). The QLoRA paper, section
    3, writes FP8 for this second level; its code takes the 8-bit dynamic codebook, and so do we.

    `amax` is the largest magnitude of each block of values, in any shape; `block_size` scales share
    a scale; `offset` is subtracted first: the mean of `amax`, rounded to float32, if None.
    """
    known = _finite_or_nan(amax)
    if offset is None:
        offset = float(to_single(np.mean(known))) if amax.size else 0.0
    centred = to_single(known - offset).reshape(-1)
    blocks = np.pad(centred, (0, -centred.size % block_size)).reshape(-1, block_size)
    scales = np.abs(blocks).max(axis=-1, initial=0)
    codes = codebook.encode(to_single(blocks * ratio(1.0, scales)[:, None]))
    restored = to_single(to_single(codebook.decode(codes) * scales[:, None]) + offset)
    return Scales(
        codes=codes.reshape(-1)[: amax.size].reshape(amax.shape),
        values=restored.reshape(-1)[: amax.size].reshape(amax.shape),
        divisors=known,
        nested=NestedScales(block_size=block_size, scales=scales, offset=offset),
    )


def encode_blocks(fmt: BlockLayout, blocks: Blocks, scales: Scales) -> tuple[Codes, Flags]:
    """Return the codes of values given as (rows, blocks, values per block), and what is clipped."""
    # Multiplied by an inverse of float32, and rounded to float32, as torchao and bitsandbytes do:
    # now and then that is the neighbour of the quotient's code.
    unit = 1.0 if scales.tensor_scale is None else scales.tensor_scale
    factors = ratio(ratio(1.0, unit), scales.divisors)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = (blocks * factors[..., None]).astype(np.float32).astype(np.float64)
    if scales.zero_points is not None:
        return _encode_affine(fmt, scaled, scales.zero_points[..., None])
    top = fmt.element.max
    clipped = np.abs(scaled) > top + top_gap(fmt.element) / 2
    return fmt.element.encode(np.clip(scaled, -top, top), overflow="saturate"), clipped


def _power_of_two(fmt: BlockLayout, amax: Floats, rule: ScaleRule) -> Scales:
    """MX: an exponent. A NaN makes the scale NaN; an infinity is larger than all, and clipped."""
    known = np.where(np.isnan(amax), 0, amax)
    powers = np.ldexp(1.0, shared_exponents(known, fmt.element, rule))
    codes = fmt.scale.encode(np.where(np.isnan(amax), np.nan, powers))
    values = fmt.scale.decode(codes)
    return Scales(codes=codes, values=values, divisors=values)


def _largest_fits(fmt: BlockLayout, amax: Floats) -> Scales:
    known = _finite_or_nan(amax)
    tensor_scale = None
    if fmt.tensor_scale:
        tensor_scale = float(ratio(np.max(known, initial=0), fmt.scale.max * fmt.element.max))
    unit = 1.0 if tensor_scale is None else tensor_scale
    wanted = np.maximum(ratio(ratio(known, fmt.element.max), unit), fmt.min_scale)
    codes = fmt.scale.encode(wanted, overflow="saturate")
    values = fmt.scale.decode(codes)
    return Scales(codes=codes, values=values, divisors=values, tensor_scale=tensor_scale)


def _affine(fmt: BlockLayout, blocks: Blocks) -> Scales:
    """Return scales and zero points that map the range of a block, widened to hold 0, to codes."""
    lowest = blocks.min(axis=-1, initial=0).astype(np.float64)
    highest = blocks.max(axis=-1, initial=0).astype(np.float64)
    top = fmt.element.max
    width = _finite_or_nan(highest - lowest)
    codes = fmt.scale.encode(ratio(to_single(width), top), overflow="saturate")
    values = fmt.scale.decode(codes)
    steps_below = np.nan_to_num(ratio(-lowest, values), nan=0.0, posinf=top)
    return Scales(
        codes=codes,
        values=values,
        divisors=values,
        zero_points=np.clip(np.rint(steps_below), 0, top).astype(np.int64),
    )


def _encode_affine(
    fmt: BlockLayout, scaled: Floats, zero_points: npt.NDArray[np.int64]
) -> tuple[Codes, Flags]:
    """Round first and move by the zero point afterwards: a tie is one of the scaled value."""
    moved = np.where(np.isfinite(scaled), np.rint(scaled) + zero_points, 0.0)
    top = fmt.element.max
    codes = np.clip(moved, 0, top).astype(fmt.element.code_dtype)
    return codes, (moved < 0) | (moved > top)


def _finite_or_nan(amax: Floats) -> Floats:
    """A NaN or an infinity leaves no scale that would fit: all that shares it is lost."""
    return np.where(np.isfinite(amax), amax, np.nan)


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Floats:
    """Return a quotient as float32 division gives it; 0 where the denominator is 0.

    A scale of zero has nothing but zeros under it. Where float32 would overflow (the inverse of a
    subnormal scale) the quotient keeps the range of float64.
    """
    over, under = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    quotient = over / np.where(under == 0, 1.0, under)
    return np.where(under == 0, 0.0, to_single(quotient))


def to_single(numbers: npt.ArrayLike) -> Floats:
    """Return numbers rounded to float32, held as float64; one beyond float32 stays as it is."""
    wide = np.asarray(numbers, dtype=np.float64)
    with np.errstate(over="ignore"):
        single = wide.astype(np.float32).astype(np.float64)
    return np.where(np.isinf(single), wide, single)
