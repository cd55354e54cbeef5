"""A block format as data: small elements, and a scale that the values of a block share."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.block_codes import as_single, encode_blocks
from core.dtypes.blocks.block_scales import find_scales
from core.dtypes.blocks.quantized import Quantized
from core.dtypes.blocks.scale_rules import SCALE_RULES, ScaleRule
from core.dtypes.blocks.splitting import (
    BlockSize,
    check_block_size,
    join_blocks,
    scale_shape,
    split_blocks,
    spread,
)
from core.dtypes.format import Format
from core.dtypes.formats import FORMATS
from core.dtypes.rounding import Floats, Rounding, check_policy
from core.language import _


@dataclass(frozen=True, kw_only=True)
class BlockFormat:
    """Values that share a scale: value = (element - zero point) * scale * tensor scale.

    Blocks run along the last axis; the last one of a row may be shorter. A NaN or an infinity
    leaves no scale that would fit, so everything that shares a scale with it becomes NaN: the
    block, the row, or with a scale or an offset of the whole tensor, the tensor. Only an MX scale
    outlives an infinity, which is clipped to the largest element. Zeros stay zero.

    Attributes:
        name: The name on the pages.
        element: The format of one value.
        block_size: Values that share a scale; "tensor": all, "channel": a row of the last axis.
        scale: The format of the scale.
        source: Where it is defined.
        rule: How the scale is found, unless asked otherwise.
        symmetric: True: zero is code 0 and integers keep to -max..max; False: the codes reach
            from the lowest to the highest value, and each block has a zero point as well.
        tensor_scale: Whether one float32 scales the tensor as a whole.
        double_quant: How many scales share a scale of their own; 0 if they are stored plainly.
        min_scale: The smallest scale that is written.
    """

    name: str
    element: Format
    block_size: BlockSize
    source: str
    scale: Format = FORMATS["float32"]
    rule: ScaleRule = "amax"
    symmetric: bool = True
    tensor_scale: bool = False
    double_quant: int = 0
    min_scale: float = 0.0

    def __post_init__(self) -> None:
        check_block_size(self.block_size)

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

        What a tensor or a row has one of costs nothing here; `storage_bits` counts it.
        """
        shared = self.block_bits / self.block_size if isinstance(self.block_size, int) else 0
        return self.element.bits + shared

    def storage_bits(self, shape: int | Sequence[int]) -> int:
        """Return the bits of a tensor: its codes without padding, and whole scales.

        Args:
            shape: The shape, or the number of values in a single row.

        >>> from core.dtypes import BLOCK_FORMATS
        >>> BLOCK_FORMATS["mxfp4"].storage_bits(33)  # 33 codes and two scales
        148
        """
        lengths = (shape,) if isinstance(shape, int) else tuple(shape)
        num_blocks = int(np.prod(scale_shape(lengths, self.block_size), dtype=np.int64))
        zero_point = 0 if self.symmetric else self.element.bits
        once = FORMATS["float32"].bits
        num_nested = -(-num_blocks // self.double_quant) + 1 if self.double_quant else 0
        return (
            int(np.prod(lengths, dtype=np.int64)) * self.element.bits
            + num_blocks * (self.scale.bits + zero_point)
            + (num_nested + self.tensor_scale) * once
        )

    def quantize(
        self,
        x: npt.ArrayLike,
        scale_rule: ScaleRule | None = None,
        rounding: Rounding = "nearest_even",
        rng: np.random.Generator | None = None,
    ) -> Quantized:
        """Return codes and scales of a tensor.

        Args:
            x: Real numbers of any shape; they are rounded to float32 first, which is what
                libraries are given.
            scale_rule: One of `rules`; the format's own if None.
            rounding: How an element is rounded.
            rng: The source of randomness of "stochastic".

        Raises:
            ValueError: If a rule or rounding is unknown, or `x` holds no real numbers.
        """
        check_policy(rounding, "saturate")
        rule = self._checked_rule(scale_rule)
        values = as_single(x)
        blocks = split_blocks(values, self.block_size)
        scales = find_scales(self, blocks, rule)
        codes, clipped = encode_blocks(self, blocks, scales, rounding, rng)
        shape = scale_shape(values.shape, self.block_size)
        zero_points = scales.zero_points
        return Quantized(
            name=self.name,
            block_size=self.block_size,
            rule=rule,
            codes=join_blocks(codes, values.shape, self.block_size),
            clipped=join_blocks(clipped, values.shape, self.block_size),
            scale_codes=scales.codes.reshape(shape),
            scales=scales.values.reshape(shape),
            amax=scales.amax.reshape(shape),
            tensor_scale=scales.tensor_scale,
            zero_points=None if zero_points is None else zero_points.reshape(shape),
            nested=scales.nested,
        )

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

    def _checked_rule(self, rule: ScaleRule | None) -> ScaleRule:
        if rule is None:
            return self.rule
        if rule not in self.rules:
            raise ValueError(
                _("Scale rule {rule} is not one of {name}: use {rules}.").format(
                    rule=rule, name=self.name, rules=", ".join(self.rules)
                )
            )
        return rule
