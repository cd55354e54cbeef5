"""A `.safetensors` file: listed as the official reader does or refused; values are torch's own."""

import json

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import SafetensorError, deserialize

from core.dtypes.blocks.read_array import MAX_BYTES
from core.dtypes.blocks.read_safetensors import (
    BITS,
    FORMAT_NAMES,
    MAX_TENSORS,
    NUMPY_NAMES,
    StoredTensor,
    is_readable,
    is_safetensors,
    list_tensors,
    main_tensor,
    read_tensor,
)

FOUR = {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}


def file_of(header, body=b"", length=None):
    """A file with that header, given as what JSON can say or as its bytes."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + body


def officially(data):
    """Name, dtype, shape and bytes of every tensor, as the official package reads them."""
    return {
        name: (tensor["dtype"], tuple(tensor["shape"]), bytes(tensor["data"]))
        for name, tensor in deserialize(data)
    }


def ours(data):
    return {
        each.name: (each.dtype, each.shape, data[each.begin : each.end])
        for each in list_tensors("x", data)
    }


SOUND = [
    file_of({"a": FOUR}, b"1234"),
    file_of({"a": FOUR, "__metadata__": {"format": "pt"}}, b"1234"),
    file_of({"a": {**FOUR, "more": 1}}, b"1234"),
    file_of({"a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}}, b"1234"),
    file_of({"a": {"dtype": "F32", "shape": [3, 0], "data_offsets": [0, 0]}}),
    file_of({"": FOUR, "权重": {**FOUR, "data_offsets": [4, 8]}}, b"12345678"),
    file_of({"b": {**FOUR, "data_offsets": [4, 8]}, "a": FOUR}, b"12345678"),
    file_of({"a": FOUR, "none": {**FOUR, "shape": [0], "data_offsets": [4, 4]}}, b"1234"),
    file_of(b" " + json.dumps({"a": FOUR}).encode() + b"   ", b"1234"),
    *(
        file_of({"a": {"dtype": dtype, "shape": [2, 4], "data_offsets": [0, bits]}}, bytes(bits))
        for dtype, bits in BITS.items()
    ),
]


def test_a_sound_file_is_listed_as_the_official_package_lists_it():
    for data in SOUND:
        assert ours(data) == officially(data), data


def test_tensors_are_listed_in_the_order_of_their_bytes():
    data = file_of({"b": {**FOUR, "data_offsets": [4, 8]}, "a": FOUR}, b"12345678")
    start = len(data) - 8
    assert list_tensors("x", data) == (
        StoredTensor(name="a", dtype="U8", shape=(4,), begin=start, end=start + 4),
        StoredTensor(name="b", dtype="U8", shape=(4,), begin=start + 4, end=start + 8),
    )


def test_the_official_package_knows_the_same_dtypes_and_each_has_one_reader_or_none():
    assert len(BITS) == len({*FORMAT_NAMES, *NUMPY_NAMES}) + 4
    assert not set(FORMAT_NAMES) & set(NUMPY_NAMES)
    unknown = file_of({"a": {**FOUR, "dtype": "F8_E3M4"}}, b"1234")
    with pytest.raises(SafetensorError) as error:
        deserialize(unknown)
    for name in BITS:
        assert f"`{name}`" in str(error.value), name
    assert str(error.value).count("`") == 2 * (1 + len(BITS))


def one(body=b"1234", **about):
    """A file with one tensor that is not quite four bytes."""
    return file_of({"a": FOUR | about}, body)


def two(body, **about):
    """A file with a second tensor that is not quite as it should be."""
    return file_of({"a": FOUR, "b": FOUR | about}, body)


OF_SHAPE = b'{"a": {"dtype": "U8", "shape": [%s], "data_offsets": [0, 4]}}'
NO_JSON = "The header is no JSON text with every key once"
LACKS = "Tensor a lacks a dtype, a shape or two offsets"
BEYOND = "The header ends beyond the end of the file"
SHARED = "Tensor b overlaps the bytes of another one"
HOSTILE = {
    "no length": (b"1234567", BEYOND),
    "a length beyond the file": (file_of({}, length=99), BEYOND),
    "the largest length": (b"\xff" * 8 + b"{}", BEYOND),
    "no JSON": (file_of(b'{"a": '), NO_JSON),
    "junk behind the JSON": (file_of(b"{} {}"), NO_JSON),
    "an empty header": (file_of(b""), NO_JSON),
    "no UTF-8": (file_of(b'{"\xff": 1}'), NO_JSON),
    "half a character": (file_of({"\ud800": FOUR}, b"1234"), NO_JSON),
    "a key twice": (file_of(b'{"a": {}, "a": {}}'), NO_JSON),
    "a field twice": (
        file_of(b'{"a": {"dtype": "U8", "dtype": "I8", "shape": [4], "data_offsets": [0, 4]}}'),
        NO_JSON,
    ),
    "not a number": (file_of(OF_SHAPE % b"NaN", b"1234"), NO_JSON),
    "a number of 5,000 digits": (file_of(OF_SHAPE % (b"9" * 5000)), NO_JSON),
    "deep brackets": (file_of(b"[" * 100_000), NO_JSON),
    "a list": (file_of(["a"]), "The header is no list of tensors"),
    "metadata that are numbers": (
        file_of({"__metadata__": {"a": 1}, "a": FOUR}, b"1234"),
        "Its metadata are no texts",
    ),
    "metadata that are a list": (file_of({"__metadata__": []}), "Its metadata are no texts"),
    "no tensor": (file_of({}), "It holds 0 tensors: use 1 to 2,000"),
    "metadata alone": (file_of({"__metadata__": {"a": "b"}}), "It holds 0 tensors"),
    "too many tensors": (
        file_of({str(i): {} for i in range(MAX_TENSORS + 1)}),
        "It holds 2,001 tensors: use 1 to 2,000",
    ),
    "a long name": (
        file_of({"n" * 201: FOUR}, b"1234"),
        "The name of a tensor has 201 characters: use at most 200",
    ),
    "no fields": (file_of({"a": {}}), LACKS),
    "a tensor that is a word": (file_of({"a": "b"}), LACKS),
    "a dtype that is a number": (one(dtype=1), LACKS),
    "a negative shape": (one(shape=[-4]), LACKS),
    "a broken shape": (one(shape=[4.0]), LACKS),
    "a shape of truth": (one(b"1", shape=[True], data_offsets=[0, 1]), LACKS),
    "a shape that is a number": (one(shape=4), LACKS),
    "an axis without end": (one(b"", shape=[2**63, 0], data_offsets=[0, 0]), LACKS),
    "too many axes": (one(b"1", shape=[1] * 65), LACKS),
    "three offsets": (one(data_offsets=[0, 2, 4]), LACKS),
    "an unknown dtype": (
        one(dtype="F8_E3M4"),
        "Tensor a has the unknown dtype F8_E3M4: known are F64, ",
    ),
    "too few bytes for the shape": (
        one(dtype="F32"),
        r"Tensor a: its bytes \(4\) do not fit F32 of shape \(4\)\.",
    ),
    "half a byte": (
        one(b"12", dtype="F4", shape=[3], data_offsets=[0, 2]),
        r"Tensor a: its bytes \(2\) do not fit F4 of shape \(3\)\.",
    ),
    "bytes for no number": (
        one(b"", dtype="F64", shape=[], data_offsets=[0, 0]),
        r"Tensor a: its bytes \(0\) do not fit F64 of shape \(\)\.",
    ),
    "a shape of astronomical size": (
        one(shape=[2**63 - 1] * 64),
        r"its bytes \(4\) do not fit U8 of shape \(9223372036854775807, ",
    ),
    "offsets the wrong way round": (one(data_offsets=[4, 0]), LACKS),
    "tensors that overlap": (two(b"123456", data_offsets=[2, 6]), SHARED),
    "the same bytes twice": (two(b"1234"), SHARED),
    "an empty tensor within another": (two(b"1234", shape=[0], data_offsets=[2, 2]), SHARED),
    "a hole": (two(b"123456789", data_offsets=[5, 9]), r"Bytes that belong to no tensor: 1\."),
    "a hole in front": (
        one(b"123456", data_offsets=[2, 6]),
        r"Bytes that belong to no tensor: 2\.",
    ),
    "bytes behind the last tensor": (one(b"1234567"), r"Bytes that belong to no tensor: 3\."),
    "a file cut short": (one(b"123"), "The file ends 1 byte too early"),
    "offsets beyond the file": (
        two(b"1234", data_offsets=[4, 8]),
        "The file ends 4 bytes too early",
    ),
}
# What the official package lets through, though its own rules say that keys are unique; a list of
# nothing is no use here, numpy has no room for such a rank or axis, and no page for such a name.
LET_THROUGH = {
    *("a key twice", "no tensor", "metadata alone"),
    *("a long name", "too many axes", "an axis without end"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_does_not_fit_together_is_refused_with_a_reason(what):
    data, reason = HOSTILE[what]
    with pytest.raises(ValueError, match=rf"^x: .*{reason}"):
        list_tensors("x", data)


@pytest.mark.parametrize("what", sorted(set(HOSTILE) - LET_THROUGH))
def test_the_official_package_refuses_the_same_files(what):
    with pytest.raises(SafetensorError):
        deserialize(HOSTILE[what][0])


def test_an_empty_file_and_six_megabytes_are_refused():
    with pytest.raises(ValueError, match="The file is empty: save a tensor into it"):
        list_tensors("x", b"")
    large = {"a": {"dtype": "U8", "shape": [6 * 10**6], "data_offsets": [0, 6 * 10**6]}}
    with pytest.raises(ValueError, match=r"6\.0 MB are too many: use at most 5 MB"):
        list_tensors("x", file_of(large, bytes(6 * 10**6)))
    assert MAX_BYTES == 5 * 10**6


def test_a_file_is_known_by_its_name_or_by_its_beginning():
    assert is_safetensors("model.SafeTensors", b"")
    assert is_safetensors("renamed.bin", file_of({"a": FOUR}, b"1234"))
    assert not is_safetensors("x.npy", b"\x93NUMPY\x01\x00v\x00{'descr'")
    assert not is_safetensors("x.npy", b"")


@given(place=st.integers(0, 90), change=st.binary(min_size=1, max_size=6))
def test_a_damaged_file_is_read_as_the_official_package_reads_it_or_refused(place, change):
    header = {"a": FOUR, "b": {"dtype": "BF16", "shape": [1, 2], "data_offsets": [4, 8]}}
    data = file_of(header, b"12345678")
    damaged = data[:place] + change + data[place + len(change) :]
    try:
        listed = ours(damaged)
    except ValueError as error:
        assert str(error).startswith("x: ")  # noqa: PT017  either outcome is right
    else:
        assert listed == officially(damaged)


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


@pytest.mark.parametrize("word", ["BOOL", "C64", "F6_E2M3", "F6_E3M2"])
def test_what_are_no_real_numbers_or_is_packed_in_an_unwritten_way_is_refused(word):
    tensor = {"dtype": word, "shape": [8], "data_offsets": [0, BITS[word]]}
    data = file_of({"w": tensor}, bytes(BITS[word]))
    assert not is_readable(list_tensors("x", data)[0])
    with pytest.raises(
        ValueError, match=f"x: Tensor w holds {word}, which is not read here: choose"
    ):
        read_tensor("x", data, "w")


NAN = torch.tensor([1.0, float("nan"), float("-inf")], dtype=torch.bfloat16)
NAN_SCALE = torch.tensor([0xFF], dtype=torch.uint8).view(torch.float8_e8m0fnu)


@pytest.mark.parametrize(
    ("tensor", "reason"),
    [
        (torch.zeros(3, 0), "It holds 0 values: use 1 to 16,777,216"),
        (NAN, r"NaN or infinite values: 2\. Save"),
        (NAN_SCALE, r"NaN or infinite values: 1\."),
        (
            torch.tensor([1.0, 1e300], dtype=torch.float64),
            r"Values beyond float32, 3\.4e38: 1\. Sc",
        ),
    ],
)
def test_a_tensor_without_values_or_with_some_that_are_not_finite_is_refused(tensor, reason):
    with pytest.raises(ValueError, match=f"x: {reason}"):
        read_tensor("x", safetensors.torch.save({"w": tensor}), "w")


def test_a_tensor_of_packed_codes_scales_or_groups_is_known_by_its_name_and_dtype():
    """Names of AutoGPTQ and AutoAWQ, compressed-tensors, gpt-oss, bitsandbytes and MLX."""
    cases = {
        ("l.qweight", "I32"): "packed",
        ("l.qzeros", "I32"): "packed",
        ("l.g_idx", "I32"): "groups",
        ("l.scales", "F16"): "scales",
        ("l.weight_packed", "I32"): "packed",
        ("l.weight_scale", "F8_E4M3"): "scales",
        ("mlp.up_proj_blocks", "U8"): "packed",
        ("mlp.up_proj_scales", "U8"): "scales",
        ("l.weight.absmax", "F32"): "scales",
        ("l.weight", "U32"): "packed",
        ("l.weight", "U8"): "codes",
        ("l.weight", "F8_E4M3"): "codes",
        ("l.weight", "BF16"): "numbers",
        ("ids", "I64"): "numbers",
        ("norm.scale", "F32"): "numbers",
        ("blocks", "F32"): "numbers",
    }
    for (name, dtype), role in cases.items():
        tensor = StoredTensor(name=name, dtype=dtype, shape=(2,), begin=0, end=1)
        assert tensor.role == role, (name, dtype)
