"""The list of tensors in a `.safetensors` file: read as the official reader does, or refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import SafetensorError, deserialize

from core.dtypes.blocks.file_checks import MAX_BYTES
from core.dtypes.blocks.safetensors_header import (
    BITS,
    MAX_TENSORS,
    StoredTensor,
    is_safetensors,
    list_tensors,
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


def test_the_official_package_knows_the_same_dtypes():
    unknown = file_of({"a": {**FOUR, "dtype": "F8_E3M4"}}, b"1234")

    with pytest.raises(SafetensorError) as error:
        deserialize(unknown)

    for name in BITS:
        assert f"`{name}`" in str(error.value), name
    assert str(error.value).count("`") == 2 * (1 + len(BITS))


HOSTILE = {
    "no length": (b"1234567", "The header ends beyond the end of the file"),
    "a length beyond the file": (file_of({}, length=99), "The header ends beyond the end"),
    "the largest length": (b"\xff" * 8 + b"{}", "The header ends beyond the end of the file"),
    "no JSON": (file_of(b'{"a": '), "The header is no JSON text"),
    "junk behind the JSON": (file_of(b"{} {}"), "The header is no JSON text"),
    "an empty header": (file_of(b""), "The header is no JSON text"),
    "no UTF-8": (file_of(b'{"\xff": 1}'), "The header is no JSON text"),
    "half a character": (file_of({"\ud800": FOUR}, b"1234"), "The header is no JSON text"),
    "a key twice": (
        file_of(b'{"a": {}, "a": {}}'),
        "The header is no JSON text with every key once",
    ),
    "a field twice": (
        file_of(b'{"a": {"dtype": "U8", "dtype": "I8", "shape": [4], "data_offsets": [0, 4]}}'),
        "The header is no JSON text with every key once",
    ),
    "not a number": (
        file_of(b'{"a": {"dtype": "U8", "shape": [NaN], "data_offsets": [0, 4]}}', b"1234"),
        "The header is no JSON text",
    ),
    "a number of 5,000 digits": (
        file_of(b'{"a": {"dtype": "U8", "shape": [' + b"9" * 5000 + b"]}}"),
        "The header is no JSON text",
    ),
    "deep brackets": (file_of(b"[" * 100_000), "The header is no JSON text"),
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
    "no fields": (file_of({"a": {}}), "Tensor a lacks a dtype, a shape or two offsets"),
    "a tensor that is a word": (file_of({"a": "b"}), "Tensor a lacks a dtype"),
    "a dtype that is a number": (file_of({"a": {**FOUR, "dtype": 1}}, b"1234"), "lacks a dtype"),
    "a negative shape": (file_of({"a": {**FOUR, "shape": [-4]}}, b"1234"), "lacks a dtype"),
    "a broken shape": (file_of({"a": {**FOUR, "shape": [4.0]}}, b"1234"), "lacks a dtype"),
    "a shape of truth": (
        file_of({"a": {**FOUR, "shape": [True], "data_offsets": [0, 1]}}, b"1"),
        "lacks a dtype",
    ),
    "a shape that is a number": (file_of({"a": {**FOUR, "shape": 4}}, b"1234"), "lacks a dtype"),
    "an axis without end": (
        file_of({"a": {**FOUR, "shape": [2**63, 0], "data_offsets": [0, 0]}}),
        "lacks a dtype",
    ),
    "too many axes": (file_of({"a": {**FOUR, "shape": [1] * 65}}, b"1"), "lacks a dtype"),
    "three offsets": (file_of({"a": {**FOUR, "data_offsets": [0, 2, 4]}}, b"1234"), "two offsets"),
    "an unknown dtype": (
        file_of({"a": {**FOUR, "dtype": "F8_E3M4"}}, b"1234"),
        "Tensor a has the unknown dtype F8_E3M4: known are F64, ",
    ),
    "too few bytes for the shape": (
        file_of({"a": {**FOUR, "dtype": "F32"}}, b"1234"),
        r"Tensor a: its bytes \(4\) do not fit F32 of shape \(4\)\.",
    ),
    "half a byte": (
        file_of({"a": {"dtype": "F4", "shape": [3], "data_offsets": [0, 2]}}, b"12"),
        r"Tensor a: its bytes \(2\) do not fit F4 of shape \(3\)\.",
    ),
    "bytes for no number": (
        file_of({"a": {"dtype": "F64", "shape": [], "data_offsets": [0, 0]}}),
        r"Tensor a: its bytes \(0\) do not fit F64 of shape \(\)\.",
    ),
    "a shape of astronomical size": (
        file_of({"a": {**FOUR, "shape": [2**63 - 1] * 64}}, b"1234"),
        r"its bytes \(4\) do not fit U8 of shape \(9223372036854775807, ",
    ),
    "offsets the wrong way round": (
        file_of({"a": {**FOUR, "data_offsets": [4, 0]}}, b"1234"),
        "Tensor a lacks a dtype, a shape or two offsets",
    ),
    "tensors that overlap": (
        file_of({"a": FOUR, "b": {**FOUR, "data_offsets": [2, 6]}}, b"123456"),
        "Tensor b lies on bytes of another one",
    ),
    "the same bytes twice": (
        file_of({"a": FOUR, "b": FOUR}, b"1234"),
        "Tensor b lies on bytes of another one",
    ),
    "an empty tensor within another": (
        file_of({"a": FOUR, "b": {**FOUR, "shape": [0], "data_offsets": [2, 2]}}, b"1234"),
        "Tensor b lies on bytes of another one",
    ),
    "a hole": (
        file_of({"a": FOUR, "b": {**FOUR, "data_offsets": [5, 9]}}, b"123456789"),
        r"Bytes that belong to no tensor: 1\.",
    ),
    "a hole in front": (
        file_of({"a": {**FOUR, "data_offsets": [2, 6]}}, b"123456"),
        r"Bytes that belong to no tensor: 2\.",
    ),
    "bytes behind the last tensor": (
        file_of({"a": FOUR}, b"1234567"),
        r"Bytes that belong to no tensor: 3\.",
    ),
    "a file cut short": (file_of({"a": FOUR}, b"123"), "The file ends 1 byte too early"),
    "offsets beyond the file": (
        file_of({"a": FOUR, "b": {**FOUR, "data_offsets": [4, 8]}}, b"1234"),
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
