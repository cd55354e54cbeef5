"""Single tensors: the famous sizes, and shapes as people write them."""

import numpy as np
import pytest

from core.budget.weights.one_tensor import (
    MAX_NUMBERS,
    TENSORS,
    read_shape,
    shape_text,
    tensor_bytes,
)
from core.units import GIB, KIB, MIB
from tests.core.budget.refusals import refused


def test_the_famous_sizes():
    """GPT-3's matrix as CS336 lecture 2 counts it; the rest as reference/coverage.md lists them."""
    assert tensor_bytes(TENSORS["gpt3_ffn"].shape, "float32").amount == 2.25 * GIB
    assert tensor_bytes(TENSORS["embedding"].shape, "float32").amount == 524_288_000
    assert tensor_bytes(TENSORS["million"].shape, "float32").amount == 3906.25 * KIB
    assert tensor_bytes(TENSORS["million"].shape, "bfloat16").amount == 1953.125 * KIB
    logits = tensor_bytes(TENSORS["logits"].shape, "float32").amount
    assert logits / GIB == pytest.approx(1.957, abs=0.001)
    small = tensor_bytes(TENSORS["logits_gpt2"].shape, "float32").amount
    assert small / MIB == pytest.approx(49.08, abs=0.01)


def test_the_bytes_are_those_of_numpy():
    for shape in ((7,), (3, 5), (2, 3, 4)):
        for name, dtype in (("float32", np.float32), ("float16", np.float16), ("int8", np.int8)):
            assert tensor_bytes(shape, name).amount == np.zeros(shape, dtype).nbytes


def test_the_formula_names_every_length():
    codes = tensor_bytes((49_152, 12_288), "float32").child("codes")
    assert codes.formula == "length_0 * length_1 * element_bits // 8"
    assert codes.substituted == "49,152 * 12,288 * 32 // 8"


def test_a_shape_is_read_as_people_write_it():
    for text in ("49152 x 12288", "49_152×12288", "(49152, 12288)", "[49152,12288]", "49152*12288"):
        assert read_shape(text) == (49_152, 12_288), text
    assert read_shape("5") == (5,)
    assert shape_text((2, 128, 50_257)) == "2 × 128 × 50,257"


def test_what_is_no_shape_is_a_sentence():
    for text in ("", "abc", "3 x -4", "1.5 x 2", "1 x 2 x 3 x 4 x 5 x 6 x 7", "_", "9" * 30):
        refused(r"is no shape|must have 1 to", read_shape, text)
    refused(f"it must have 1 to {MAX_NUMBERS:,}", read_shape, "1000000000 x 1000000000")
    refused("A tensor of 0 has 0 numbers", read_shape, "0")
