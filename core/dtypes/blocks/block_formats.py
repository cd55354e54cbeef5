"""The block formats by name, one row each with what defines it; and how they store a tensor.

The arithmetic is float32, in which scales and codes are bit-identical to those of libraries.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.block_layout import (
    PER_CHANNEL,
    PER_TENSOR,
    BlockSize,
    NestedScales,
    Quantized,
    Scales,
    join_blocks,
    scale_shape,
    split_blocks,
    spread,
)
from core.dtypes.blocks.scale_rules import SCALE_RULES, ScaleRule, shared_exponents, top_gap
from core.dtypes.number_formats.codebook_format import DYNAMIC8
from core.dtypes.number_formats.format import Codes, Format
from core.dtypes.number_formats.int_format import IntFormat
from core.dtypes.number_formats.table import FORMATS
from core.dtypes.rounding import Flags, Floats
from core.language import _

Blocks = npt.NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class BlockFormat:
    """Values that share a scale: value = (element - zero point) * scale * tensor scale.

    A NaN or an infinity leaves no scale that would fit, so everything that shares a scale with it
    becomes NaN: the block, the row, or with a scale or an offset of the whole tensor, the tensor.
    Only an MX scale outlives an infinity, which is clipped to the largest element.

    Raises:
        ValueError: If a block holds no value, or is neither a number nor "tensor" nor "channel".
    """

    name: str
    element: Format  # the format of one value
    # values that share a scale; "tensor": all, "channel": a row of the last axis
    block_size: BlockSize
    source: str
    scale: Format = FORMATS["float32"]
    rule: ScaleRule = "amax"  # how the scale is found, unless asked otherwise
    # True: zero is code 0 and integers keep to -max..max; False: the codes reach from the lowest to
    # the highest value, and each block has a zero point as well
    symmetric: bool = True
    tensor_scale: bool = False  # whether one float32 scales the tensor as a whole
    # how many scales share a scale of their own; 0 if they are stored plainly
    double_quant: int = 0
    min_scale: float = 0.0  # the smallest scale that is written

    def __post_init__(self) -> None:
        size = self.block_size
        if size in {PER_TENSOR, PER_CHANNEL}:
            return
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise ValueError(
                _('A block of {size} values: use 1 or more, "tensor" or "channel".').format(
                    size=size
                )
            )

    @property
    def rules(self) -> tuple[ScaleRule, ...]:
        """The scale rules to choose from."""
        return ("amax",) if self.rule == "amax" else SCALE_RULES

    @property
    def block_bits(self) -> float:
        """Bits of what a block shares: scale, zero point and its part of the second level."""
        zero_point = 0 if self.symmetric else self.element.bits
        nested = FORMATS["float32"].bits / self.double_quant if self.double_quant else 0
        return self.scale.bits + zero_point + nested

    @property
    def bits_per_value(self) -> float:
        """Bits that one value costs, its share of the scale included.

        What a tensor or a row has one of costs nothing here.
        """
        shared = self.block_bits / self.block_size if isinstance(self.block_size, int) else 0
        return self.element.bits + shared

    def quantize(self, x: npt.ArrayLike, scale_rule: ScaleRule | None = None) -> Quantized:
        """Return codes and scales of a tensor of any shape, which is rounded to float32 first.

        Raises:
            ValueError: If the format has no such rule, or `x` holds no real numbers.
        """
        rule = self.own_or(scale_rule)
        values = as_single(x)
        blocks = split_blocks(values, self.block_size)
        scales = find_scales(self, blocks, rule)
        codes, clipped = encode_blocks(self, blocks, scales)
        shape = scale_shape(values.shape, self.block_size)
        zero_points = scales.zero_points
        return Quantized(
            name=self.name,
            block_size=self.block_size,
            codes=join_blocks(codes, values.shape, self.block_size),
            clipped=join_blocks(clipped, values.shape, self.block_size),
            scale_codes=scales.codes.reshape(shape),
            scales=scales.values.reshape(shape),
            tensor_scale=scales.tensor_scale,
            zero_points=None if zero_points is None else zero_points.reshape(shape),
            nested=scales.nested,
        )

    def own_or(self, scale_rule: ScaleRule | None) -> ScaleRule:
        """Return the rule that is asked for, the format's own if none is.

        Raises:
            ValueError: If the format has no such rule.
        """
        rule = scale_rule or self.rule
        if rule not in self.rules:
            raise ValueError(
                _("Scale rule {rule} is not one of {name}: use {rules}.").format(
                    rule=rule, name=self.name, rules=_(", ").join(self.rules)
                )
            )
        return rule

    def dequantize(self, quantized: Quantized) -> Floats:
        """Return the numbers that the codes and scales stand for, in the tensor's shape.

        Raises:
            ValueError: If another format quantized them.
        """
        if quantized.name != self.name:
            raise ValueError(
                _(
                    "Codes of {other} cannot be read as {name}: use the format that wrote them."
                ).format(other=quantized.name, name=self.name)
            )
        shape, block_size = quantized.shape, quantized.block_size
        elements = self.element.decode(quantized.codes)
        if quantized.zero_points is not None:
            elements = elements - spread(quantized.zero_points, shape, block_size)
        factors = quantized.scales
        if quantized.tensor_scale is not None:
            factors = factors * quantized.tensor_scale
        return elements * spread(factors, shape, block_size)

    def round(self, x: npt.ArrayLike, scale_rule: ScaleRule | None = None) -> Floats:
        """Return what remains of a tensor: dequantize(quantize(x))."""
        return self.dequantize(self.quantize(x, scale_rule))


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


def find_scales(fmt: BlockFormat, blocks: Blocks, rule: ScaleRule) -> Scales:
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


def encode_blocks(fmt: BlockFormat, blocks: Blocks, scales: Scales) -> tuple[Codes, Flags]:
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


def _power_of_two(fmt: BlockFormat, amax: Floats, rule: ScaleRule) -> Scales:
    """MX: an exponent. A NaN makes the scale NaN; an infinity is larger than all, and clipped."""
    known = np.where(np.isnan(amax), 0, amax)
    powers = np.ldexp(1.0, shared_exponents(known, fmt.element, rule))
    codes = fmt.scale.encode(np.where(np.isnan(amax), np.nan, powers))
    values = fmt.scale.decode(codes)
    return Scales(codes=codes, values=values, divisors=values)


def _largest_fits(fmt: BlockFormat, amax: Floats) -> Scales:
    known = _finite_or_nan(amax)
    tensor_scale = None
    if fmt.tensor_scale:
        tensor_scale = float(ratio(np.max(known, initial=0), fmt.scale.max * fmt.element.max))
    unit = 1.0 if tensor_scale is None else tensor_scale
    wanted = np.maximum(ratio(ratio(known, fmt.element.max), unit), fmt.min_scale)
    codes = fmt.scale.encode(wanted, overflow="saturate")
    values = fmt.scale.decode(codes)
    return Scales(codes=codes, values=values, divisors=values, tensor_scale=tensor_scale)


def _affine(fmt: BlockFormat, blocks: Blocks) -> Scales:
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
    fmt: BlockFormat, scaled: Floats, zero_points: npt.NDArray[np.int64]
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


_MX = "OCP Microscaling Formats v1.0, table 1"
_NVFP4 = "NVIDIA Blackwell whitepaper, 2025; arithmetic of torchao 0.18, nvfp4_quantize"
_QLORA = "Dettmers et al. 2023, QLoRA, section 3; arithmetic of bitsandbytes 0.50.2"
_INT = "Jacob et al. 2018, section 2.1, with zero point 0 and codes -max to max"
_AFFINE = "Jacob et al. 2018, Quantization and Training of Neural Networks, section 2.1"
_GROUP = "Frantar et al. 2023, GPTQ, section 4: groups of 128 with a float16 scale"
_DEEPSEEK = "DeepSeek-V3 technical report, 2024, section 3.3.2: tiles of 1 x 128"
_FP8 = "Micikevicius et al. 2022, FP8 Formats for Deep Learning, section 3.3; scale amax / 448"

_MXINT8: Final = IntFormat(
    name="mxint8_element",
    width=8,
    signed=True,
    fraction_bits=6,
    source="OCP Microscaling Formats v1.0, section 5.3; stops at -127/64 as microxcaling does",
)


def _mx(name: str, element: Format) -> BlockFormat:
    return BlockFormat(
        name=name,
        element=element,
        block_size=32,
        scale=FORMATS["float8_e8m0fnu"],
        rule="floor",
        source=_MX,
    )


def _nvfp4(name: str, *, tensor_scale: bool) -> BlockFormat:
    return BlockFormat(
        name=name,
        element=FORMATS["float4_e2m1fn"],
        block_size=16,
        scale=FORMATS["float8_e4m3fn"],  # never negative: UE4M3
        tensor_scale=tensor_scale,
        min_scale=FORMATS["float8_e4m3fn"].smallest_normal,
        source=_NVFP4,
    )


def _single(name: str, element: str, block_size: BlockSize, source: str) -> BlockFormat:
    return BlockFormat(name=name, element=FORMATS[element], block_size=block_size, source=source)


def _grouped(name: str, element: str, source: str, *, symmetric: bool = True) -> BlockFormat:
    single = _single(name, element, 128, source)
    return replace(single, scale=FORMATS["float16"], symmetric=symmetric)


_ROWS: Final = (
    _mx("mxfp8_e4m3", FORMATS["float8_e4m3fn"]),
    _mx("mxfp8_e5m2", FORMATS["float8_e5m2"]),
    _mx("mxfp6_e2m3", FORMATS["float6_e2m3fn"]),
    _mx("mxfp6_e3m2", FORMATS["float6_e3m2fn"]),
    _mx("mxfp4", FORMATS["float4_e2m1fn"]),
    _mx("mxint8", _MXINT8),
    _nvfp4("nvfp4", tensor_scale=True),
    _nvfp4("nvfp4_one_level", tensor_scale=False),
    _single("nf4", "nf4", 64, _QLORA),
    replace(_single("nf4_double_quant", "nf4", 64, _QLORA), scale=DYNAMIC8, double_quant=256),
    _single("int8_tensor", "int8", PER_TENSOR, _INT),
    _single("int8_channel", "int8", PER_CHANNEL, _INT),
    _grouped("int8_group128", "int8", _GROUP),
    replace(_single("int8_tensor_affine", "uint8", PER_TENSOR, _AFFINE), symmetric=False),
    _single("int4_tensor", "int4", PER_TENSOR, _INT),
    _single("int4_channel", "int4", PER_CHANNEL, _INT),
    _grouped("int4_group128", "int4", _GROUP),
    _grouped("int4_group128_affine", "uint4", _GROUP, symmetric=False),
    _single("fp8_tensor", "float8_e4m3fn", PER_TENSOR, _FP8),
    _single("fp8_block128", "float8_e4m3fn", 128, _DEEPSEEK),
)

BLOCK_FORMATS: Final[Mapping[str, BlockFormat]] = MappingProxyType({row.name: row for row in _ROWS})
