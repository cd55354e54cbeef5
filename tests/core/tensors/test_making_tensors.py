"""What makes tensors, where they live, and how heads are merged: torch and einops are asked."""

import json
import subprocess
import sys

import einops
import pytest
import torch

from core.tensors.creation import CREATIONS, make
from core.tensors.devices import DEVICE_ROWS, OnDevice, on_this_machine
from core.tensors.merged_heads import merge_cost, merge_heads

RANDOM = {"rand", "randn"}


@pytest.mark.parametrize("key", CREATIONS)
def test_a_call_makes_what_python_makes(key):
    made = make(key, 2, 3)
    *before, last = made.code.split("\n")
    names = {"torch": torch}
    exec("\n".join(before), names)  # noqa: S102  our own programs
    x = eval(last, names)  # noqa: S307

    tensor = made.step.outputs[0]
    assert (tensor.layout.shape, tensor.layout.stride) == (tuple(x.shape), x.stride())
    assert tensor.dtype == str(x.dtype).removeprefix("torch.")
    assert tensor.layout.storage_bytes == x.untyped_storage().nbytes()
    assert tensor.layout.is_contiguous == x.is_contiguous()
    if key not in {"empty", *RANDOM}:
        assert made.values == tuple(x.flatten().double().tolist())


def test_two_tensors_on_the_cpu_take_8192_bytes_and_devices_do_not_mix():
    rows = {row.code: row for row in on_this_machine()}
    new = [row for code, row in rows.items() if code.endswith("torch.zeros(32, 32)")]
    assert sum(row.num_bytes for row in new) == 8192
    assert rows['x.to("cpu")'] == OnDevice(code='x.to("cpu")', device="cpu")
    assert "meta" in rows["x + m"].error
    assert "cpu" in rows["x + m"].error
    if not torch.cuda.is_available():
        assert rows['x.to("cuda")'].error


@pytest.mark.slow
def test_the_rows_run_in_a_process_of_their_own_as_with_a_gpu():
    command = [sys.executable, "-m", "core.tensors.devices"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert len([OnDevice(**each) for each in json.loads(done.stdout)]) == len(DEVICE_ROWS)


def test_heads_are_merged_as_einops_merges_them():
    for tokens in range(1, 6):
        for heads in range(1, 5):
            for dim in range(1, 4):
                both = merge_heads(tokens, heads, dim)
                q = torch.arange(tokens * heads * dim).view(1, heads, tokens, dim)
                right = einops.rearrange(q, "b h t d -> b t (h d)")
                wrong = q.reshape(right.shape)
                assert both.num_displaced == int((right != wrong).sum()), (tokens, heads, dim)
                for rows, x in ((both.right, right), (both.wrong, wrong)):
                    for row, cells in enumerate(rows):
                        for column, place in enumerate(cells):
                            value = q[0, place.head, place.token, place.dim]
                            assert value == x[0, row, column]


def test_one_head_or_one_token_needs_no_transpose_and_no_copy():
    assert merge_heads(4, 1, 3).num_displaced == merge_heads(1, 4, 3).num_displaced == 0
    assert merge_heads(4, 1, 3).bytes_copied == 0
    assert merge_heads(4, 2, 3).bytes_copied == 96


def test_the_merge_of_gpt_2_copies_786432_bytes():
    assert merge_cost(2, 12, 128, 64) == 2 * 12 * 128 * 64 * 4 == 786_432
