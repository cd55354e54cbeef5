"""What the sliders of as_strided may reach: torch accepts all of it, and nothing beyond."""

import pytest
import torch

from core.tensors.strided_windows import (
    MAX_LENGTH,
    NUM_ELEMENTS,
    WINDOWS,
    largest_stride,
    room_left,
)


def is_accepted(size, stride, offset=0):
    try:
        torch.arange(NUM_ELEMENTS).as_strided(size, stride, offset)
    except RuntimeError:
        return False
    return True


def test_the_largest_stride_and_offset_are_the_last_that_torch_accepts():
    for columns in range(1, MAX_LENGTH + 1):
        for inner in range(largest_stride(NUM_ELEMENTS, columns) + 1):
            for rows in range(1, MAX_LENGTH + 1):
                given = ((columns,), (inner,))
                outer = largest_stride(NUM_ELEMENTS, rows, *given)
                size, stride = (rows, columns), (outer, inner)
                left = room_left(NUM_ELEMENTS, size, stride)
                assert is_accepted(size, stride, left), (size, stride, left)
                assert not is_accepted(size, stride, left + 1), (size, stride, left)
                if rows > 1:
                    assert not is_accepted(size, (outer + 1, inner)), (size, stride)


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_every_example_lies_inside(window):
    assert is_accepted(window.size, window.stride, window.offset)
    assert room_left(NUM_ELEMENTS, window.size, window.stride, window.offset) >= 0
