"""What is left of a tensor after quantization: small codes, and the scales that give them size."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.scale_rules import ScaleRule
from core.dtypes.blocks.splitting import BlockSize, Shape, spread
from core.dtypes.format import Codes
from core.dtypes.rounding import Flags, Floats


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class NestedScales:
    """The second level of double quantization: scales of the scales.

    Attributes:
        block_size: Scales that share one of the scales here.
        scales: The largest magnitude in each block of scales, after `offset` was taken off.
        offset: The mean of all scales, subtracted first so that their codes have a sign to use.
    """

    block_size: int
    scales: Floats
    offset: float


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Scales:
    """What a quantizer found out about each block before it looked at single values.

    Attributes:
        amax: The largest magnitude; infinite or NaN where a value is.
        codes: The scale as it is stored, in the scale's own format.
        values: The scale as it is read back, what dequantization multiplies with.
        divisors: What the values were divided by: `values`, but for double quantization.
        tensor_scale: One more factor for the whole tensor, if the format has one.
        zero_points: The code of zero, if the format is affine.
        nested: The second level, if the scales are quantized themselves.
    """

    amax: Floats
    codes: Codes
    values: Floats
    divisors: Floats
    tensor_scale: float | None = None
    zero_points: npt.NDArray[np.int64] | None = None
    nested: NestedScales | None = None


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Quantized:
    """A quantized tensor, with everything a picture of it needs.

    What there is one of per block has the shape (..., number of blocks); `per_value` spreads it.

    Attributes:
        name: The block format.
        block_size: Values that share a scale.
        rule: How the scale was chosen.
        codes: One code per value, unsigned, in the shape of the tensor.
        clipped: Where a value lay beyond the largest element, by more than rounding explains.
        scale_codes: The scales as they are stored.
        scales: The scales as numbers.
        amax: The largest magnitude of each block.
        tensor_scale: One more factor for the whole tensor, or None.
        zero_points: The code of zero in each block, or None where it is 0 everywhere.
        nested: The scales of the scales, or None.
    """

    name: str
    block_size: BlockSize
    rule: ScaleRule
    codes: Codes
    clipped: Flags
    scale_codes: Codes
    scales: Floats
    amax: Floats
    tensor_scale: float | None
    zero_points: npt.NDArray[np.int64] | None
    nested: NestedScales | None

    @property
    def shape(self) -> Shape:
        """The shape of the tensor."""
        return self.codes.shape

    @property
    def num_clipped(self) -> int:
        """How many values lay beyond the largest element."""
        return int(self.clipped.sum())

    def per_value(self, per_block: Floats) -> Floats:
        """Return for each value what belongs to its block: of `scales`, `amax` or `zero_points`."""
        return spread(per_block, self.shape, self.block_size)
