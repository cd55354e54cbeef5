"""A tensor from a file that somebody uploaded: read as data, never run as a program.

Every such file must be small, not empty, and full of finite real numbers; here `.npy` is read.
"""

import math
from io import BytesIO
from tokenize import TokenError
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.sample_tensors import MAX_VALUES
from core.language import _, ngettext

MAX_BYTES: Final = 5 * 10**6
MAX_LENGTH: Final = 2**63  # of one axis: the counters of torch and numpy end there
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
    run anything, are refused. `name` is what the reader calls the file: it begins the error.

    Raises:
        ValueError: If the file is empty, larger than 5 MB, no `.npy`, cut short or pickled, or
            does not hold finite real numbers, 1 to 16,777,216 of them.
    """
    check_size(name, data)
    stream = BytesIO(data)
    shape, fortran_order, dtype = _header(name, stream)
    if dtype.hasobject:
        pickled = _("It holds pickled Python objects, which are never opened: save numbers.")
        raise refusal(name, pickled)
    if dtype.kind not in "fiu":
        wrong = _("It holds {dtype}: save real numbers, for instance as float32.")
        raise refusal(name, wrong.format(dtype=dtype))
    check_count(name, math.prod(shape))
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
        _check_shape(shape)
    except _HEADER_ERRORS as error:
        raise refusal(
            name, _("The header cannot be read: save the tensor again with numpy.save.")
        ) from error
    return shape, fortran_order, dtype


def _check_shape(shape: tuple[object, ...]) -> None:
    """Refuse lengths that numpy lets through: below zero, True, more than an axis can have."""
    if not all(type(length) is int and 0 <= length < MAX_LENGTH for length in shape):
        raise ValueError(f"{shape} is no shape")


def check_size(name: str, data: bytes) -> None:
    """Refuse a file that is empty or larger than 5 MB."""
    if not data:
        raise refusal(name, _("The file is empty: save a tensor into it."))
    if len(data) > MAX_BYTES:
        size = _("{size:.1f} MB are too many: use at most {most} MB.")
        raise refusal(name, size.format(size=len(data) / 10**6, most=MAX_BYTES // 10**6))


def check_count(name: str, num_values: int) -> None:
    """Refuse a tensor without values or with more than 16,777,216, before memory is taken."""
    if not 1 <= num_values <= MAX_VALUES:
        count = _("It holds {count} values: use 1 to {most}.")
        raise refusal(name, count.format(count=f"{num_values:,}", most=f"{MAX_VALUES:,}"))


def finite_single(name: str, values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Return the values as float32, in their shape; refuse NaN, infinity and what float32 lacks."""
    if num_wrong := int((~np.isfinite(values)).sum()):
        wrong = _("NaN or infinite values: {count}. Save a tensor of finite numbers.")
        raise refusal(name, wrong.format(count=f"{num_wrong:,}"))
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(values, dtype=np.float32).reshape(values.shape)
    if num_wrong := int(np.isinf(single).sum()):
        wrong = _("Values beyond float32, 3.4e38: {count}. Scale the tensor down.")
        raise refusal(name, wrong.format(count=f"{num_wrong:,}"))
    return single


def cut_short(name: str, num_missing: int) -> ValueError:
    """Return the error that refuses a file whose last bytes are missing."""
    missing = ngettext(
        "The file ends {count} byte too early: save or copy it again.",
        "The file ends {count} bytes too early: save or copy it again.",
        num_missing,
    )
    return refusal(name, missing.format(count=f"{num_missing:,}"))


def refusal(name: str, reason: str) -> ValueError:
    """Return the error that refuses the file of that name."""
    return ValueError(_("{name}: {reason}").format(name=name, reason=reason))
