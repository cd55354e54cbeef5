"""Addresses, cache lines and overlaps, against torch and against counting one by one."""

import itertools
from random import Random

import numpy as np
import pytest
import torch

from core.tensors.layout import (
    LINE_BYTES,
    Layout,
    contiguous,
    contiguous_strides,
    trace_index,
)
from core.tensors.trace import layout_of
from tests.core.tensors.random_tensors import random_strided

NUM_LAYOUTS = 500
STORAGE = torch.arange(5000)
SHAPES_5D = [(2, 3, 4, 5, 6), (1, 3, 1, 2, 2), (2, 1, 1, 3, 1), (1, 1, 1, 1, 1), (2, 0, 2, 2, 2)]


def random_layout(rng):
    """A layout, and the tensor of it whose values are its addresses."""
    x = random_strided(rng)
    offset = rng.randint(0, 9)
    values = STORAGE.as_strided(tuple(x.shape), x.stride(), offset)
    itemsize = rng.choice([1, 2, 4, 8, 16])
    layout = Layout(shape=tuple(x.shape), stride=x.stride(), offset=offset, itemsize=itemsize)
    return layout, values


def test_addresses_are_those_that_torch_reads():
    rng = Random(11)  # noqa: S311  a seeded test
    for _ in range(NUM_LAYOUTS):
        layout, values = random_layout(rng)
        assert layout.addresses().tolist() == values.tolist(), layout
        largest = values.max() if values.numel() else layout.offset
        assert layout.last_address == largest, layout
        assert layout.numel == values.numel()
        assert layout.is_contiguous == values.is_contiguous(), layout
        repeated = values.unique().numel() < values.numel()
        assert layout.overlaps_itself == repeated, layout


def test_the_steps_of_an_index_and_the_offset_add_up_to_its_address():
    rng = Random(12)  # noqa: S311  a seeded test
    num_traced = 0
    for _ in range(NUM_LAYOUTS):
        layout, values = random_layout(rng)
        for index in itertools.islice(np.ndindex(layout.shape), 20):
            pairs = zip(index, layout.shape, strict=True)
            backwards = [i - n if rng.random() < 0.3 else i for i, n in pairs]
            steps = trace_index(backwards, layout.shape, layout.stride)
            assert layout.offset + sum(step.jump for step in steps) == values[index]
            assert tuple(step.index for step in steps) == index
            num_traced += 1
    assert num_traced > 1000


@pytest.mark.parametrize(("index", "axis"), [((0, 3), 1), ((-3, 0), 0), ((2, 0), 0)])
def test_an_index_outside_is_refused_with_its_axis(index, axis):
    with pytest.raises(ValueError, match=f"outside axis {axis} of length"):
        trace_index(index, (2, 3), (3, 1))


def test_lines_are_those_that_hold_a_byte_of_an_element():
    rng = Random(13)  # noqa: S311  a seeded test
    for _ in range(NUM_LAYOUTS):
        layout, values = random_layout(rng)
        first = [address * layout.itemsize for address in values.flatten().tolist()]
        held = {byte // LINE_BYTES for at in first for byte in range(at, at + layout.itemsize)}
        assert layout.lines_touched() == len(held), layout
        walk = [at // LINE_BYTES for at in first]
        assert layout.line_changes() == len(list(itertools.groupby(walk))), layout


def test_a_fresh_tensor_has_torchs_strides():
    for shape in itertools.product((0, 1, 2, 3), repeat=3):
        x = torch.empty(shape)
        assert contiguous_strides(shape) == x.stride()
        assert contiguous(shape) == layout_of(x)


def test_more_addresses_than_can_be_drawn_are_not_listed():
    assert contiguous((65_536,)).addresses().shape == (65_536,)
    with pytest.raises(ValueError, match="65,537 elements; at most 65,536"):
        contiguous((65_537,)).addresses()


def test_a_transposed_walk_changes_lines_sixteen_times_as_often():
    row = contiguous((256, 256))
    column = Layout(shape=(256, 256), stride=(1, 256))
    assert (row.lines_touched(), row.line_changes()) == (4096, 4096)
    assert (column.lines_touched(), column.line_changes()) == (4096, 65_536)


def channels_last(x):
    """What torch says of it, in the format of its number of dimensions."""
    if x.ndim not in {4, 5}:
        return False
    flat, deep = torch.channels_last, torch.channels_last_3d
    return x.is_contiguous(memory_format=flat if x.ndim == 4 else deep)


def test_channels_last_is_what_torch_says_of_every_order_of_small_dimensions():
    found = {True: 0, False: 0}
    for ndim in (3, 4, 5):
        for shape in itertools.product((0, 1, 2, 3), repeat=ndim) if ndim < 5 else SHAPES_5D:
            for order in itertools.permutations(range(ndim)):
                back = [order.index(dim) for dim in range(ndim)]
                x = torch.empty([shape[dim] for dim in order]).permute(back)
                assert layout_of(x).is_channels_last == channels_last(x), (shape, x.stride())
                found[channels_last(x)] += 1
    assert min(found.values()) > 100, found
