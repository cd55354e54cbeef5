"""Files that somebody uploads: read as data, refused with a reason."""

import io
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dtypes.blocks.read_array import MAX_BYTES, read_array


def saved(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def header(description, version=b"\x01\x00"):
    text = description.encode().ljust(117) + b"\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text


def described(shape, descr="<f4"):
    return header(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}")


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f4", "f8", "i1", "u1", "i8", ">i2", "g"])
def test_real_numbers_of_every_kind_become_float32(dtype):
    x = np.arange(24).reshape(2, 3, 4).astype(dtype)
    tensor = read_array("x.npy", saved(x))
    assert tensor.dtype == np.float32
    assert tensor.flags.c_contiguous
    np.testing.assert_array_equal(tensor, x)


def test_a_transposed_a_scalar_and_a_newer_file_are_read_too():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(read_array("x", saved(np.asfortranarray(x))), x)
    assert read_array("x", saved(np.float64(2.5))) == 2.5
    stream = io.BytesIO()
    np.lib.format.write_array(stream, x, version=(2, 0))
    np.testing.assert_array_equal(read_array("x", stream.getvalue()), x)


class Bomb:
    """Fails the test when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("the pickle was opened",))


def test_a_pickled_file_is_never_opened():
    for data in (
        saved(np.array([Bomb()], dtype=object), allow_pickle=True),
        saved(np.array([(1, Bomb())], dtype=[("a", "i4"), ("b", "O")]), allow_pickle=True),
    ):
        with pytest.raises(ValueError, match=r"weights\.npy: It holds pickled Python objects"):
            read_array("weights.npy", data)
    with pytest.raises(ValueError, match=r"This is no \.npy and no"):
        read_array("x", pickle.dumps(Bomb()))


def test_six_megabytes_are_too_many():
    data = saved(np.zeros(6 * 10**6, np.uint8))
    with pytest.raises(ValueError, match=r"6\.0 MB are too many: use at most 5 MB"):
        read_array("x", data)
    assert len(saved(np.zeros(MAX_BYTES - 128, np.uint8))) == MAX_BYTES
    assert read_array("x", saved(np.zeros(MAX_BYTES - 128, np.uint8))).size == MAX_BYTES - 128


def test_an_empty_file_or_tensor_is_refused():
    with pytest.raises(ValueError, match="The file is empty"):
        read_array("x", b"")
    with pytest.raises(ValueError, match="It holds 0 values: use 1 to 16,777,216"):
        read_array("x", saved(np.zeros((3, 0))))


@pytest.mark.parametrize("data", [b"PK\x03\x04 an archive", b"\x93NUMP", b"1,2,3\n", b"\x00" * 200])
def test_what_is_no_npy_file_is_refused(data):
    with pytest.raises(ValueError, match=r"This is no \.npy and no \.safetensors file: save a"):
        read_array("x", data)


@pytest.mark.parametrize(
    "data",
    [
        b"\x93NUMPY",
        b"\x93NUMPY\x01\x00\xff\xff{",
        b"\x93NUMPY\x09\x00" + bytes(100),
        header("{'descr': '<f4', 'shape': (2,)}"),
        described("(2,)", "nonsense"),
        described("('a',)"),
        header("__import__('os').abort()"),
        header("{" * 100),
        header("[" * 60 + "]" * 57),
        header("1" + "+1" * 55 + "L"),
        b"\x93NUMPY\x01\x00" + (9000).to_bytes(2, "little") + b"(" * 9000,
        *map(described, ("(-4,)", "(-2, -2)", "(0, -1)", "(2.0,)", "[1]", f"({2**63}, 0)")),
        *map(described, ("(True,)", "(False,)", "(2, True)")),  # Python takes them for 1 and 0
    ],
)
def test_a_header_that_makes_no_sense_is_refused(data):
    with pytest.raises(ValueError, match=r"x: The header cannot be read"):
        read_array("x", data + bytes(64))


NOT_REAL = [np.array([each]) for each in (1j, "a", b"a", True)]
NOT_REAL += [np.zeros(2, dtype) for dtype in ([("a", "f4")], "M8[s]", "V2")]


@pytest.mark.parametrize("array", NOT_REAL)
def test_what_are_no_real_numbers_is_refused(array):
    with pytest.raises(ValueError, match=r"It holds .*: save real numbers"):
        read_array("x", saved(array))


def test_a_header_cannot_ask_for_more_memory_than_the_limit_nor_for_what_is_not_there():
    with pytest.raises(ValueError, match="It holds 100,000,000,000 values"):
        read_array("x", described("(100000, 1000000)"))
    with pytest.raises(ValueError, match="It holds 16,777,217 values: use 1 to 16,777,216"):
        read_array("x", described("(16777217,)", "|i1"))
    with pytest.raises(ValueError, match="The file ends 4 bytes too early"):
        read_array("x", saved(np.zeros(9, np.float32))[:-4])


def test_numbers_that_are_not_finite_are_counted():
    with pytest.raises(ValueError, match=r"NaN or infinite values: 2\. Save"):
        read_array("x", saved(np.array([1.0, np.nan, -np.inf])))
    with pytest.raises(ValueError, match=r"Values beyond float32, 3\.4e38: 1\. Scale"):
        read_array("x", saved(np.array([1.0, 1e300])))


@given(place=st.integers(6, 127), change=st.binary(min_size=1, max_size=6))
def test_a_damaged_header_is_read_or_refused_and_nothing_else(place, change):
    data = saved(np.arange(12, dtype=np.float32))
    damaged = data[:place] + change + data[place + len(change) :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy takes some for files of Python 2, and says so
        try:
            assert read_array("x", damaged).dtype == np.float32
        except ValueError as error:
            assert str(error).startswith("x: ")  # noqa: PT017  either outcome is right
