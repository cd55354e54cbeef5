"""Ways between NumPy and PyTorch: the texts of the rows are run by Python and compared."""

import builtins
import re
import warnings

import numpy as np
import pytest
import torch

from core.tensors.numpy_bridge import BRIDGES, cross


@pytest.mark.parametrize("row", BRIDGES.values(), ids=BRIDGES)
def test_a_row_does_what_its_texts_say(row):
    crossed = cross(row)
    names = {"np": np, "torch": torch}
    exec(row.first, names)  # noqa: S102  our own programs
    if crossed.outcome == "refused":
        kind, _colon, message = crossed.error.partition(": ")
        with pytest.raises(getattr(builtins, kind), match=re.escape(message)):
            eval(row.code, names)  # noqa: S307
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = eval(row.code, names)  # noqa: S307
    array, t = (made, names["t"]) if row.from_torch else (names["a"], made)
    assert (crossed.shape, crossed.stride) == (tuple(t.shape), t.stride())
    assert crossed.dtype == str(t.dtype).removeprefix("torch.")
    shares = np.shares_memory(array, t.detach().numpy())
    assert crossed.outcome == ("shares" if shares else "copies")
    drawn = {each.text for each in crossed.trace.inputs}
    assert drawn == ({"t"} if min(array.strides) < 0 else {"a", "t"})
    assert len(crossed.trace.storages) == (1 if shares or len(drawn) == 1 else 2)


def test_the_known_outcomes():
    outcomes = {key: cross(row).outcome for key, row in BRIDGES.items()}
    refused = {key for key, outcome in outcomes.items() if outcome == "refused"}
    assert refused == {
        *("negative", "byte_order", "packed", "text"),
        *("bfloat16", "gradient", "conjugate", "meta"),
    }
    assert {key for key, each in outcomes.items() if each == "copies"} == {
        "tensor", "as_float32", "negative_copy",
    }  # fmt: skip


def test_a_read_only_array_is_warned_of_each_time_and_keeps_its_stride():
    for _attempt in range(2):
        crossed = cross(BRIDGES["read_only"])
        assert "not writable" in crossed.warning
        assert (crossed.stride, crossed.changed) == ((0, 1), {})
