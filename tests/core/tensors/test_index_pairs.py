"""Views and copies beside NumPy: the texts of the rows say what runs, and torch agrees."""

import re

import numpy as np
import pytest
import torch

from core.tensors.examples import counted
from core.tensors.index_pairs import PAIRS, in_numpy, in_torch, slice_pair

WAYS = [(pair, way) for pair in (*PAIRS.values(), slice_pair(6, 0, 5, 2)) for way in pair.ways]


@pytest.mark.parametrize(("pair", "way"), WAYS, ids=[way.torch for _pair, way in WAYS])
def test_a_way_is_what_its_texts_say(pair, way):
    x = counted(pair.shape)
    a = x.numpy().copy()
    found = in_numpy(way, pair.shape)
    b = eval(way.numpy, {"np": np, "a": a})  # noqa: S307
    assert (found.kind == "view") == np.shares_memory(b, a)
    assert found.shape == b.shape

    made = in_torch(way, pair.shape)
    if made.kind is None:
        with pytest.raises(ValueError, match=re.escape(made.refusal)):
            eval(way.torch, {"torch": torch, "x": x})  # noqa: S307
        return
    y = eval(way.torch, {"torch": torch, "x": x})  # noqa: S307
    assert np.array_equal(np.sort(y.flatten()), np.sort(b.flatten()))
    is_view = y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert (made.kind == "view") == is_view
    assert (made.shape, made.stride) == (tuple(y.shape), y.stride())
    assert made.num_bytes_copied == (0 if is_view else y.untyped_storage().nbytes())


def test_numpy_and_torch_differ_where_the_reference_says_so():
    differ = set()
    for pair, way in WAYS:
        one, two = in_torch(way, pair.shape), in_numpy(way, pair.shape)
        if (one.kind, one.shape) != (two.kind, two.shape):
            differ.add(way.torch)
    assert differ == {
        "x[torch.tensor(1)]",
        "x[0, :, [0, 2]]",
        "x[:, ::-1]",
        "x.flip(1)",
        "x.rot90()",
    }


def test_a_slice_and_its_list_give_the_same_numbers():
    for start in range(7):
        for stop in range(7):
            for step in range(1, 7):
                pair = slice_pair(6, start, stop, step)
                x = counted(pair.shape)
                one, two = (eval(way.torch, {"x": x}) for way in pair.ways)  # noqa: S307
                assert torch.equal(one, two), (start, stop, step)
