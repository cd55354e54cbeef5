"""Where blocks lie in a tensor."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dtypes import BLOCK_FORMATS
from core.dtypes.blocks.block_layout import (
    join_blocks,
    scale_shape,
    split_blocks,
    spread,
    values_per_block,
)

shapes = st.lists(st.integers(0, 7), max_size=4).map(tuple)
sizes = st.one_of(st.integers(1, 9), st.sampled_from(["tensor", "channel"]))


@given(shape=shapes, size=sizes)
def test_splitting_and_joining_gives_the_tensor_back(shape, size):
    values = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    blocks = split_blocks(values, size)
    assert blocks.shape[:2] == (
        1 if size == "tensor" else np.prod(shape[:-1], dtype=int),
        scale_shape(shape, size)[-1],
    )
    np.testing.assert_array_equal(join_blocks(blocks, shape, size), values)


@given(shape=shapes, size=sizes)
def test_a_number_per_block_reaches_exactly_the_values_of_its_block(shape, size):
    values = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    numbers = split_blocks(values, size).max(axis=-1, initial=-1).reshape(scale_shape(shape, size))
    largest = spread(numbers, shape, size)
    assert largest.shape == shape
    assert (largest >= values).all()


def test_the_shapes_of_scales_and_a_tensor_or_a_row_is_one_block_however_long():
    assert scale_shape((4, 64), 32) == (4, 2)
    assert scale_shape((4, 65), 32) == (4, 3)
    assert scale_shape((2, 3, 5), "channel") == (2, 3, 1)
    assert scale_shape((2, 3, 5), "tensor") == (1,)
    assert scale_shape((), 16) == (1,)
    assert scale_shape((), "channel") == (1,)
    assert scale_shape((0,), 16) == (0,)
    assert scale_shape((3, 0), "channel") == (3, 0)
    assert scale_shape((0, 5), "channel") == (0, 1)
    assert scale_shape((0,), "tensor") == (1,)
    assert values_per_block((4, 6), "tensor") == 24
    assert values_per_block((4, 6), "channel") == 6
    assert values_per_block((4, 0), "tensor") == 1


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "row"])
def test_a_block_that_cannot_be_is_refused(size):
    with pytest.raises(ValueError, match='use 1 or more, "tensor" or "channel"'):
        replace(BLOCK_FORMATS["mxfp4"], block_size=size)
