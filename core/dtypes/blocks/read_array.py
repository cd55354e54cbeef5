"""A tensor from a file that somebody uploaded: read as data, never run as a program."""

import math
from io import BytesIO
from tokenize import TokenError
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.file_checks import (
    check_count,
    check_size,
    cut_short,
    finite_single,
    refusal,
)
from core.language import _

MAGIC: Final = b"\x93NUMPY"
# What numpy's reader of headers lets through from ast and tokenize, which it uses inside.
_HEADER_ERRORS: Final = (
    *(ValueError, KeyError, TypeError, EOFError),
    *(SyntaxError, TokenError, RecursionError, MemoryError),
)

Header = tuple[tuple[int, ...], bool, np.dtype[Any]]


def read_array(name: str, data: bytes) -> npt.NDArray[np.float32]:
    """Return the tensor in the bytes of a `.npy` file as float32.

    The header is judged before memory for the values is taken, and pickled objects, which could
    run anything, are refused.

    Args:
        name: What the reader calls the file; it begins the error message.
        data: The whole file.

    Raises:
        ValueError: If the file is empty, larger than 5 MB, no `.npy`, cut short or pickled, or
            does not hold finite real numbers, 1 to 16,777,216 of them.
    """
    check_size(name, data)
    stream = BytesIO(data)
    shape, fortran_order, dtype = _header(name, stream)
    _check_header(name, shape, dtype)
    num_bytes = math.prod(shape) * dtype.itemsize
    body = data[stream.tell() : stream.tell() + num_bytes]
    if len(body) < num_bytes:
        raise cut_short(name, num_bytes - len(body))
    values = np.frombuffer(body, dtype).reshape(shape, order="F" if fortran_order else "C")
    return finite_single(name, values)


def _header(name: str, stream: BytesIO) -> Header:
    """Return (shape, Fortran order, dtype), and leave the stream where the values begin."""
    if stream.getvalue()[: len(MAGIC)] != MAGIC:
        neither = _("This is no .npy and no .safetensors file: save a tensor with numpy.save.")
        raise refusal(name, neither)
    try:
        version = np.lib.format.read_magic(stream)
        readers = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        shape, fortran_order, dtype = readers[version](stream)
    except _HEADER_ERRORS as error:
        raise refusal(
            name, _("The header cannot be read: save the tensor again with numpy.save.")
        ) from error
    return shape, fortran_order, dtype


def _check_header(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if dtype.hasobject:
        raise refusal(
            name, _("It holds pickled Python objects, which are never opened: save numbers.")
        )
    if dtype.kind not in "fiu":
        wrong = _("It holds {dtype}: save real numbers, for instance as float32.")
        raise refusal(name, wrong.format(dtype=dtype))
    check_count(name, math.prod(shape))
