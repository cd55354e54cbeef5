"""Where the blocks lie: they run along the last axis, and the last one of a row may be shorter."""

from typing import Final, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from core.language import _

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

    >>> scale_shape((3, 70), 32)
    (3, 3)
    """
    if block_size == PER_TENSOR:
        return (1,)
    columns = rows_of(shape, block_size)[1]
    return (*shape[:-1], -(-columns // values_per_block(shape, block_size)))


def split_blocks(values: npt.NDArray[np.float32], block_size: BlockSize) -> npt.NDArray[np.float32]:
    """Return values as (rows, blocks, values per block); a short last block ends in zeros.

    The zeros change neither the largest magnitude nor a range that holds zero anyway.
    """
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


def check_block_size(block_size: BlockSize) -> None:
    """Refuse a block that cannot be.

    Raises:
        ValueError: If it holds no value, or is neither a number nor "tensor" nor "channel".
    """
    if block_size in {PER_TENSOR, PER_CHANNEL}:
        return
    if not isinstance(block_size, int) or isinstance(block_size, bool) or block_size < 1:
        raise ValueError(
            _('A block of {size} values: use 1 or more, "tensor" or "channel".').format(
                size=block_size
            )
        )
