"""The scale of each block, for all kinds of block formats; float32 arithmetic, as in libraries."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.double_quant import store_scales
from core.dtypes.blocks.quantized import Scales
from core.dtypes.blocks.scale_rules import ScaleRule, shared_exponents
from core.dtypes.blocks.single import ratio, to_single
from core.dtypes.rounding import Floats

if TYPE_CHECKING:
    from core.dtypes.blocks.block_format import BlockFormat

Blocks = npt.NDArray[np.float32]


def find_scales(fmt: "BlockFormat", blocks: Blocks, rule: ScaleRule) -> Scales:
    """Return the scales of values given as (rows, blocks, values per block)."""
    if not fmt.symmetric:
        return _affine(fmt, blocks)
    amax = np.abs(blocks).max(axis=-1, initial=0).astype(np.float64)
    if rule != "amax":
        return _power_of_two(fmt, amax, rule)
    return _nested(fmt, amax) if fmt.double_quant else _largest_fits(fmt, amax)


def _power_of_two(fmt: "BlockFormat", amax: Floats, rule: ScaleRule) -> Scales:
    """MX: an exponent. A NaN makes the scale NaN; an infinity is larger than all, and clipped."""
    known = np.where(np.isnan(amax), 0, amax)
    powers = np.ldexp(1.0, shared_exponents(known, fmt.element, rule))
    codes = fmt.scale.encode(np.where(np.isnan(amax), np.nan, powers))
    values = fmt.scale.decode(codes)
    return Scales(amax=amax, codes=codes, values=values, divisors=values)


def _largest_fits(fmt: "BlockFormat", amax: Floats) -> Scales:
    """Return scales that map the largest magnitude of a block to the largest element."""
    known = _finite_or_nan(amax)
    tensor_scale = _tensor_scale(fmt, known) if fmt.tensor_scale else None
    unit = 1.0 if tensor_scale is None else tensor_scale
    wanted = np.maximum(ratio(ratio(known, fmt.element.max), unit), fmt.min_scale)
    codes = fmt.scale.encode(wanted, overflow="saturate")
    values = fmt.scale.decode(codes)
    return Scales(amax=amax, codes=codes, values=values, divisors=values, tensor_scale=tensor_scale)


def _tensor_scale(fmt: "BlockFormat", amax: Floats) -> float:
    largest = np.max(amax, initial=0)
    return float(ratio(largest, fmt.scale.max * fmt.element.max))


def _affine(fmt: "BlockFormat", blocks: Blocks) -> Scales:
    """Return scales and zero points that map the range of a block, widened to hold 0, to codes."""
    lowest = blocks.min(axis=-1, initial=0).astype(np.float64)
    highest = blocks.max(axis=-1, initial=0).astype(np.float64)
    top = fmt.element.max
    width = _finite_or_nan(highest - lowest)
    codes = fmt.scale.encode(ratio(to_single(width), top), overflow="saturate")
    values = fmt.scale.decode(codes)
    steps_below = np.nan_to_num(ratio(-lowest, values), nan=0.0, posinf=top)
    return Scales(
        amax=np.maximum(highest, -lowest),
        codes=codes,
        values=values,
        divisors=values,
        zero_points=np.clip(np.rint(steps_below), 0, top).astype(np.int64),
    )


def _nested(fmt: "BlockFormat", amax: Floats) -> Scales:
    """Store the scales of a block themselves as codes; values were still divided by `amax`."""
    known = _finite_or_nan(amax)
    second = store_scales(known, fmt.scale, fmt.double_quant)
    return Scales(
        amax=amax,
        codes=second.codes,
        values=second.restored,
        divisors=known,
        nested=second.nested,
    )


def _finite_or_nan(amax: Floats) -> Floats:
    """A NaN or an infinity leaves no scale that would fit: all that shares it is lost."""
    return np.where(np.isfinite(amax), amax, np.nan)
