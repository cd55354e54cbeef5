"""The block formats by name: one row each, with the document or the program that defines it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy.typing as npt

from core.dtypes.blocks.block_codec import as_single, encode_blocks, find_scales
from core.dtypes.blocks.block_layout import (
    PER_CHANNEL,
    PER_TENSOR,
    BlockLayout,
    BlockSize,
    Quantized,
    join_blocks,
    scale_shape,
    split_blocks,
    spread,
)
from core.dtypes.blocks.scale_rules import ScaleRule
from core.dtypes.number_formats.codebook_format import DYNAMIC8
from core.dtypes.number_formats.format import Format
from core.dtypes.number_formats.int_format import IntFormat
from core.dtypes.number_formats.table import FORMATS
from core.dtypes.rounding import Floats
from core.language import _


@dataclass(frozen=True, kw_only=True)
class BlockFormat(BlockLayout):
    """A layout of blocks that quantizes tensors and restores them."""

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
