"""One tensor of a `.safetensors` file, decoded by the formats of `core.dtypes` and not by torch.

bfloat16 and FP8, which numpy does not have, come back bit for bit.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.file_checks import check_count, finite_single, refusal
from core.dtypes.blocks.safetensors_header import StoredTensor, list_tensors
from core.dtypes.formats import FORMATS
from core.language import _

# The file's word -> our name of the format whose codes the bytes are.
FORMAT_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "F16": "float16",
        "BF16": "bfloat16",
        "F8_E4M3": "float8_e4m3fn",
        "F8_E5M2": "float8_e5m2",
        "F8_E4M3FNUZ": "float8_e4m3fnuz",
        "F8_E5M2FNUZ": "float8_e5m2fnuz",
        "F8_E8M0": "float8_e8m0fnu",
        "F4": "float4_e2m1fn",
    }
)
# The file's word -> numpy's; the bytes are little-endian on every machine.
NUMPY_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "F64": "<f8",
        "F32": "<f4",
        "I64": "<i8",
        "I32": "<i4",
        "I16": "<i2",
        "I8": "i1",
        "U64": "<u8",
        "U32": "<u4",
        "U16": "<u2",
        "U8": "u1",
    }
)


def is_readable(tensor: StoredTensor) -> bool:
    """Return whether it holds real numbers in a layout that is written down."""
    return tensor.dtype in FORMAT_NAMES or tensor.dtype in NUMPY_NAMES


def main_tensor(tensors: tuple[StoredTensor, ...]) -> StoredTensor:
    """Return the tensor that is looked at first: the largest readable one, the first of equals."""
    return max(tensors, key=lambda tensor: (is_readable(tensor), tensor.num_values))


def read_tensor(name: str, data: bytes, tensor: str) -> npt.NDArray[np.float32]:
    """Return the tensor of that name as float32.

    Args:
        name: What the reader calls the file; it begins the error message.
        data: The whole file.
        tensor: The name of one of its tensors.

    Raises:
        ValueError: If the file is damaged, has no tensor of that name, or the tensor does not hold
            finite real numbers, 1 to 16,777,216 of them.
    """
    found = {each.name: each for each in list_tensors(name, data)}
    if tensor not in found:
        message = _("There is no tensor {tensor}: the file holds {names}.")
        raise refusal(name, message.format(tensor=tensor, names=", ".join(found)))
    return read_stored(name, data, found[tensor])


def read_stored(name: str, data: bytes, tensor: StoredTensor) -> npt.NDArray[np.float32]:
    """Return a listed tensor as float32; `data` is the file that the list was made of.

    Raises:
        ValueError: If it does not hold finite real numbers, 1 to 16,777,216 of them.
    """
    if not is_readable(tensor):
        wrong = _("Tensor {tensor} holds {dtype}, which is not read here: choose one of {names}.")
        names = ", ".join((*NUMPY_NAMES, *FORMAT_NAMES))
        raise refusal(name, wrong.format(tensor=tensor.name, dtype=tensor.dtype, names=names))
    check_count(name, tensor.num_values)
    body = data[tensor.begin : tensor.end]
    return finite_single(name, _decoded(body, tensor.dtype).reshape(tensor.shape))


def _decoded(body: bytes, dtype: str) -> npt.NDArray[Any]:
    if dtype in NUMPY_NAMES:
        return np.frombuffer(body, NUMPY_NAMES[dtype])
    fmt = FORMATS[FORMAT_NAMES[dtype]]
    codes = np.frombuffer(body, fmt.code_dtype.newbyteorder("<"))
    if fmt.bits == 4:  # two codes a byte, the first in the low half (torch's float4_e2m1fn_x2)
        codes = np.stack([codes & 0xF, codes >> 4], axis=-1).reshape(-1)
    return fmt.decode(codes)
