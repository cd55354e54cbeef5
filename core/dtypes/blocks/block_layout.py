"""How a tensor is cut into blocks, what a block format stores, and what is left of the tensor.

Blocks run along the last axis, and the last one of a row may be shorter.
"""

from dataclasses import dataclass
from typing import Final, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from core.dtypes.number_formats.format import Codes
from core.dtypes.rounding import Flags, Floats

BlockSize = int | Literal["tensor", "channel"]
Shape = tuple[int, ...]

_T = TypeVar("_T", bound=np.generic)

PER_TENSOR: Final = "tensor"
PER_CHANNEL: Final = "channel"


def rows_of(shape: Shape, block_size: BlockSize) -> tuple[int, int]:
    """Return (rows, values per row): a tensor that shares one scale is a single row."""
    if block_size == PER_TENSOR:
        return 1, int(np.prod(shape, dtype=np.int64))
    return int(np.prod(shape[:-1], dtype=np.int64)), shape[-1] if shape else 1


def values_per_block(shape: Shape, block_size: BlockSize) -> int:
    """Return how many values share a scale, at most; at least 1 so that an empty row is a row."""
    if isinstance(block_size, int):
        return block_size
    return max(rows_of(shape, block_size)[1], 1)


def scale_shape(shape: Shape, block_size: BlockSize) -> Shape:
    """Return the shape of what there is one of per block: (..., number of blocks).

    A tensor with one scale has the shape (1,), even when it is empty.
    """
    if block_size == PER_TENSOR:
        return (1,)
    columns = rows_of(shape, block_size)[1]
    return (*shape[:-1], -(-columns // values_per_block(shape, block_size)))


def split_blocks(values: npt.NDArray[np.float32], block_size: BlockSize) -> npt.NDArray[np.float32]:
    """Return values as (rows, blocks, values per block); a short last block ends in zeros."""
    num_rows, num_columns = rows_of(values.shape, block_size)
    size = values_per_block(values.shape, block_size)
    num_blocks = scale_shape(values.shape, block_size)[-1]
    rows = values.reshape(num_rows, num_columns)
    if missing := num_blocks * size - num_columns:
        rows = np.pad(rows, ((0, 0), (0, missing)))
    return rows.reshape(num_rows, num_blocks, size)


def join_blocks(blocks: npt.NDArray[_T], shape: Shape, block_size: BlockSize) -> npt.NDArray[_T]:
    """Return what `split_blocks` split, in its shape again."""
    num_rows, num_columns = rows_of(shape, block_size)
    rows = blocks.reshape(num_rows, blocks.shape[1] * blocks.shape[2])
    return rows[:, :num_columns].reshape(shape)


def spread(per_block: npt.NDArray[_T], shape: Shape, block_size: BlockSize) -> npt.NDArray[_T]:
    """Return, for each value of a tensor of that shape, the number that belongs to its block."""
    num_rows, num_columns = rows_of(shape, block_size)
    size = values_per_block(shape, block_size)
    numbers = per_block.reshape(num_rows, scale_shape(shape, block_size)[-1])
    return np.repeat(numbers, size, axis=1)[:, :num_columns].reshape(shape)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class NestedScales:
    """The second level of double quantization: scales of the scales.

    The `offset`, their mean, is subtracted first, so that their codes have a sign to use.
    """

    block_size: int
    scales: Floats
    offset: float


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Scales:
    """What a quantizer found out about each block before it looked at single values."""

    codes: Codes
    values: Floats  # the scale as it is read back, what dequantization multiplies with
    divisors: Floats  # what the values were divided by: `values`, but for double quantization
    tensor_scale: float | None = None  # one more factor for the whole tensor, if the format has one
    zero_points: npt.NDArray[np.int64] | None = None
    nested: NestedScales | None = None


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Quantized:
    """A quantized tensor, with everything a picture of it needs.

    What there is one of per block has the shape (..., number of blocks); `per_value` spreads it.
    """

    name: str
    block_size: BlockSize
    codes: Codes  # one code per value, unsigned, in the shape of the tensor
    clipped: Flags  # where a value lay beyond the largest element, by more than rounding explains
    scale_codes: Codes  # the scales as they are stored
    scales: Floats
    tensor_scale: float | None
    # the code of zero in each block, or None where it is 0 everywhere
    zero_points: npt.NDArray[np.int64] | Floats | None
    nested: NestedScales | None

    @property
    def shape(self) -> Shape:
        """The shape of the tensor."""
        return self.codes.shape

    def per_value(self, per_block: Floats) -> Floats:
        """Return for each value what belongs to its block: of `scales` or `zero_points`."""
        return spread(per_block, self.shape, self.block_size)
