"""A tensor of a `.safetensors` file: the same values, bit for bit, as torch and ml_dtypes read."""

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch

from core.dtypes.blocks.read_safetensors import (
    FORMAT_NAMES,
    NUMPY_NAMES,
    is_readable,
    main_tensor,
    read_tensor,
)
from core.dtypes.blocks.safetensors_header import BITS, list_tensors
from tests.core.dtypes.blocks.test_safetensors_header import file_of

# The file's word -> torch's dtype; every one that numpy lacks and both know.
TORCH_DTYPES = {
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "F8_E4M3FNUZ": torch.float8_e4m3fnuz,
    "F8_E5M2FNUZ": torch.float8_e5m2fnuz,
    "F8_E8M0": torch.float8_e8m0fnu,
}


@pytest.mark.parametrize("word", TORCH_DTYPES)
def test_every_finite_code_comes_back_as_torch_reads_it(word):
    bits = BITS[word]
    codes = torch.arange(1 << bits, dtype=torch.int32).to({8: torch.uint8, 16: torch.uint16}[bits])
    tensor = codes.view(TORCH_DTYPES[word])
    tensor = codes[torch.isfinite(tensor.to(torch.float32))].view(TORCH_DTYPES[word])
    data = safetensors.torch.save({"w": tensor})

    values = read_tensor("x", data, "w")

    (stored,) = list_tensors("x", data)
    assert stored.dtype == word
    assert values.dtype == np.float32
    expected = tensor.to(torch.float32).numpy()
    np.testing.assert_array_equal(values.view(np.uint32), expected.view(np.uint32))


def test_the_first_of_two_fp4_codes_lies_in_the_low_half_of_a_byte():
    codes = np.arange(16, dtype=np.uint8).reshape(2, 8)
    packed = torch.from_numpy(codes[:, ::2] | codes[:, 1::2] << 4)
    data = safetensors.torch.save({"w": packed.view(torch.float4_e2m1fn_x2)})

    values = read_tensor("x", data, "w")

    assert values.shape == (2, 8)
    np.testing.assert_array_equal(values, codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32))


@pytest.mark.parametrize("word", NUMPY_NAMES)
def test_what_numpy_knows_comes_back_as_the_official_package_reads_it(word):
    x = np.arange(24).reshape(2, 3, 4).astype(NUMPY_NAMES[word])
    data = safetensors.numpy.save({"w": x})

    values = read_tensor("x", data, "w")

    assert list_tensors("x", data)[0].dtype == word
    assert values.dtype == np.float32
    assert values.flags.c_contiguous
    np.testing.assert_array_equal(values, safetensors.numpy.load(data)["w"])


def test_each_of_several_tensors_is_found_by_its_name():
    tensors = {
        "bias": torch.tensor(2.5),
        "embedding": torch.randn(7, 3, generator=torch.Generator().manual_seed(0)),
        "scale": torch.ones(4, dtype=torch.bfloat16),
    }
    data = safetensors.torch.save(tensors, metadata={"format": "pt"})

    for name, tensor in tensors.items():
        np.testing.assert_array_equal(read_tensor("x", data, name), tensor.float().numpy())
    with pytest.raises(ValueError, match=r"x: There is no tensor other: the file holds \w+, \w+, "):
        read_tensor("x", data, "other")


def test_the_largest_readable_tensor_is_looked_at_first():
    data = safetensors.torch.save(
        {
            "a": torch.zeros(3),
            "largest": torch.zeros(99, dtype=torch.bool),
            "b": torch.zeros(2, 4),
            "c": torch.zeros(8),
        }
    )

    assert main_tensor(list_tensors("x", data)).name == "b"
    only = safetensors.torch.save({"mask": torch.zeros(9, dtype=torch.bool)})
    assert main_tensor(list_tensors("x", only)).name == "mask"


@pytest.mark.parametrize("word", sorted(set(BITS) - set(FORMAT_NAMES) - set(NUMPY_NAMES)))
def test_what_are_no_real_numbers_or_is_packed_in_an_unwritten_way_is_refused(word):
    tensor = {"dtype": word, "shape": [8], "data_offsets": [0, BITS[word]]}
    data = file_of({"w": tensor}, bytes(BITS[word]))

    assert not is_readable(list_tensors("x", data)[0])
    with pytest.raises(
        ValueError, match=f"x: Tensor w holds {word}, which is not read here: choose"
    ):
        read_tensor("x", data, "w")


def test_the_dtypes_that_are_refused_are_these():
    refused = set(BITS) - set(FORMAT_NAMES) - set(NUMPY_NAMES)
    assert refused == {"BOOL", "C64", "F6_E2M3", "F6_E3M2"}
    assert not set(FORMAT_NAMES) & set(NUMPY_NAMES)


def test_a_tensor_without_values_or_with_too_many_is_refused_before_memory_is_taken():
    data = safetensors.torch.save({"w": torch.zeros(3, 0)})
    with pytest.raises(ValueError, match="x: It holds 0 values: use 1 to 16,777,216"):
        read_tensor("x", data, "w")


def test_numbers_that_are_not_finite_are_counted():
    nan = torch.tensor([1.0, float("nan"), float("-inf")], dtype=torch.bfloat16)
    with pytest.raises(ValueError, match=r"x: NaN or infinite values: 2\. Save"):
        read_tensor("x", safetensors.torch.save({"w": nan}), "w")
    with pytest.raises(ValueError, match=r"x: Values beyond float32, 3\.4e38: 1\. Scale"):
        read_tensor("x", safetensors.numpy.save({"w": np.array([1.0, 1e300])}), "w")
    scale = torch.tensor([0xFF], dtype=torch.uint8).view(torch.float8_e8m0fnu)
    with pytest.raises(ValueError, match=r"x: NaN or infinite values: 1\."):
        read_tensor("x", safetensors.torch.save({"w": scale}), "w")
