"""The tensors of a `.safetensors` file: a length, a JSON object, then all their bytes.

The layout is written down in the README of github.com/huggingface/safetensors. The file is taken to
be hostile: what its header says is compared with what is there before anything is read. Values are
decoded by the formats of `core.dtypes` and not by torch: bfloat16 and FP8, which numpy does not
have, come back bit for bit.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.read_array import (
    MAX_LENGTH,
    check_count,
    check_size,
    cut_short,
    finite_single,
    refusal,
)
from core.dtypes.number_formats.table import FORMATS
from core.language import _

Role = Literal["numbers", "codes", "packed", "scales", "groups"]
CODE_BITS: Final = 8  # up to here a format is used with a scale, which lies in another tensor
LENGTH_BYTES: Final = 8  # of the number before the header, which says how long the header is
MAX_TENSORS: Final = 2000
MAX_DIMS: Final = 64  # numpy has no tensor with more
MAX_NAME: Final = 200  # characters
METADATA: Final = "__metadata__"
# What the JSON of a hostile header makes json raise.
_JSON_ERRORS: Final = (ValueError, RecursionError)
# The file's word -> our name of the format whose codes the bytes are.
FORMAT_NAMES: Final[Mapping[str, str]] = {
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "F8_E8M0": "float8_e8m0fnu",
    "F4": "float4_e2m1fn",
}
# The file's word -> numpy's; the bytes are little-endian on every machine.
NUMPY_NAMES: Final[Mapping[str, str]] = {
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
# Bits of one value, by the file's name of the dtype (safetensors 0.8, enum Dtype).
BITS: Final[Mapping[str, int]] = {
    **{word: 8 * np.dtype(name).itemsize for word, name in NUMPY_NAMES.items()},
    **{word: FORMATS[name].bits for word, name in FORMAT_NAMES.items()},
    "C64": 64,
    "BOOL": 8,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
}
# The last word of a tensor's name -> what it holds beside numbers, in the files of GPTQ and AWQ,
# compressed-tensors, gpt-oss and bitsandbytes; MLX calls its packed codes "weight".
_ROLES: Final[Mapping[str, Role]] = {
    **dict.fromkeys(("qweight", "qzeros", "weight_packed", "blocks"), "packed"),
    **dict.fromkeys(("scales", "weight_scale", "weight_scale_inv", "absmax"), "scales"),
    **dict.fromkeys(("weight_scale_2", "input_scale"), "scales"),
    "g_idx": "groups",
}
_WIDE_INTEGERS: Final = ("I16", "I32", "I64", "U16", "U32", "U64")


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredTensor:
    """One tensor of a file."""

    name: str
    dtype: str  # the file's word, for instance "BF16"
    shape: tuple[int, ...]
    begin: int  # its first byte, counted from the start of the file
    end: int  # the byte behind its last one

    @property
    def num_values(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    @property
    def role(self) -> Role:
        """What its values are, by its name and its dtype.

        Weights are no wide integers: where they are, each holds several codes side by side.
        """
        last = self.name.rpartition(".")[2]
        for word, role in _ROLES.items():
            can_be = role == "scales" or self.dtype.startswith(("I", "U"))
            if can_be and (last == word or last.endswith(f"_{word}")):
                return role
        if self.dtype in _WIDE_INTEGERS and last in {"weight", "weights", "bias"}:
            return "packed"
        return "codes" if BITS[self.dtype] <= CODE_BITS else "numbers"


def is_safetensors(name: str, data: bytes) -> bool:
    """Return whether a file calls itself one, or begins like one: a length, then a JSON object."""
    begins_so = data[LENGTH_BYTES : LENGTH_BYTES + 1] == b"{"
    return name.lower().endswith(".safetensors") or begins_so


def list_tensors(name: str, data: bytes) -> tuple[StoredTensor, ...]:
    """Return the tensors of a `.safetensors` file in the order of their bytes.

    `name` is what the reader calls the file; it begins the error message.

    Raises:
        ValueError: If the file is empty or larger than 5 MB, or its header does not describe all of
            its bytes exactly once.
    """
    check_size(name, data)
    length = int.from_bytes(data[:LENGTH_BYTES], "little")
    start = LENGTH_BYTES + length
    if len(data) < LENGTH_BYTES or start > len(data):
        cut = _("The header ends beyond the end of the file: save or copy it again.")
        raise refusal(name, cut)
    header = _header(name, data[LENGTH_BYTES:start])
    if not 1 <= len(header) <= MAX_TENSORS:
        count = _("It holds {count} tensors: use 1 to {most}.")
        raise refusal(name, count.format(count=f"{len(header):,}", most=f"{MAX_TENSORS:,}"))
    tensors = [_tensor(name, key, about, start) for key, about in header.items()]
    tensors.sort(key=lambda tensor: (tensor.begin, tensor.end))
    _check_places(name, tensors, start, len(data))
    return tuple(tensors)


def is_readable(tensor: StoredTensor) -> bool:
    """Return whether it holds real numbers in a layout that is written down."""
    return tensor.dtype in FORMAT_NAMES or tensor.dtype in NUMPY_NAMES


def main_tensor(tensors: tuple[StoredTensor, ...]) -> StoredTensor:
    """Return the tensor that is looked at first: the largest readable one, the first of equals."""
    return max(tensors, key=lambda tensor: (is_readable(tensor), tensor.num_values))


def read_tensor(name: str, data: bytes, tensor: str) -> npt.NDArray[np.float32]:
    """Return the tensor of that name as float32.

    Raises:
        ValueError: If the file is damaged, has no tensor of that name, or the tensor does not hold
            finite real numbers, 1 to 16,777,216 of them.
    """
    found = {each.name: each for each in list_tensors(name, data)}
    if tensor not in found:
        message = _("There is no tensor {tensor}: the file holds {names}.")
        raise refusal(name, message.format(tensor=tensor, names=_(", ").join(found)))
    return read_stored(name, data, found[tensor])


def read_stored(name: str, data: bytes, tensor: StoredTensor) -> npt.NDArray[np.float32]:
    """Return a listed tensor as float32; `data` is the file that the list was made of.

    Raises:
        ValueError: If it does not hold finite real numbers, 1 to 16,777,216 of them.
    """
    if not is_readable(tensor):
        wrong = _("Tensor {tensor} holds {dtype}, which is not read here: choose one of {names}.")
        names = _(", ").join((*NUMPY_NAMES, *FORMAT_NAMES))
        raise refusal(name, wrong.format(tensor=tensor.name, dtype=tensor.dtype, names=names))
    check_count(name, tensor.num_values)
    body = data[tensor.begin : tensor.end]
    return finite_single(name, _decoded(body, tensor.dtype).reshape(tensor.shape))


def _header(name: str, text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(
            text.decode("utf-8"), object_pairs_hook=_no_key_twice, parse_constant=_no_constant
        )
    except _JSON_ERRORS as error:
        wrong = _("The header is no JSON text with every key once: save the file again.")
        raise refusal(name, wrong) from error
    if not isinstance(header, dict):
        raise refusal(name, _("The header is no list of tensors: save the file again."))
    words = header.pop(METADATA, {})
    if not isinstance(words, dict) or not all(isinstance(word, str) for word in words.values()):
        raise refusal(name, _("Its metadata are no texts: save the file again."))
    return header


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands there twice")
    for key in found:
        key.encode("utf-8")  # half of a surrogate pair is no text, and no browser can show it
    return found


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _tensor(name: str, key: str, about: Any, start: int) -> StoredTensor:  # noqa: ANN401  any JSON
    if len(key) > MAX_NAME:
        long = _("The name of a tensor has {count} characters: use at most {most}.")
        raise refusal(name, long.format(count=f"{len(key):,}", most=MAX_NAME))
    if not _is_described(about):
        lacks = _("Tensor {tensor} lacks a dtype, a shape or two offsets: save the file again.")
        raise refusal(name, lacks.format(tensor=key))
    dtype, shape, (begin, end) = about["dtype"], about["shape"], about["data_offsets"]
    if dtype not in BITS:
        wrong = _("Tensor {tensor} has the unknown dtype {dtype}: known are {names}.")
        message = wrong.format(tensor=key, dtype=dtype[:MAX_NAME], names=_(", ").join(BITS))
        raise refusal(name, message)
    if math.prod(shape) * BITS[dtype] != (end - begin) * 8:
        wrong = _("Tensor {tensor}: its bytes ({count}) do not fit {dtype} of shape {shape}.")
        count, spoken = f"{end - begin:,}", f"({', '.join(map(str, shape))})"
        message = wrong.format(tensor=key, count=count, shape=spoken, dtype=dtype)
        raise refusal(name, message)
    return StoredTensor(
        name=key, dtype=dtype, shape=tuple(shape), begin=start + begin, end=start + end
    )


def _is_described(about: Any) -> bool:  # noqa: ANN401  any JSON
    return (
        isinstance(about, dict)
        and isinstance(about.get("dtype"), str)
        and _are_counts(about.get("shape"))
        and _are_counts(about.get("data_offsets"))
        and len(about["shape"]) <= MAX_DIMS
        and len(about["data_offsets"]) == len(("begin", "end"))
        and about["data_offsets"][0] <= about["data_offsets"][1]
    )


def _are_counts(numbers: Any) -> bool:  # noqa: ANN401  any JSON
    return isinstance(numbers, list) and all(
        type(number) is int and 0 <= number < MAX_LENGTH for number in numbers
    )


def _check_places(name: str, tensors: list[StoredTensor], start: int, num_bytes: int) -> None:
    """Refuse tensors that share bytes, and bytes that belong to none."""
    end = start
    for tensor in tensors:
        if tensor.begin < end:
            shared = _("Tensor {tensor} overlaps the bytes of another one: save the file again.")
            raise refusal(name, shared.format(tensor=tensor.name))
        if tensor.begin > end:
            raise _no_owner(name, tensor.begin - end)
        end = tensor.end
    if end > num_bytes:
        raise cut_short(name, end - num_bytes)
    if end < num_bytes:
        raise _no_owner(name, num_bytes - end)


def _no_owner(name: str, num_bytes: int) -> ValueError:
    wrong = _("Bytes that belong to no tensor: {count}. Save the file again.")
    return refusal(name, wrong.format(count=f"{num_bytes:,}"))


def _decoded(body: bytes, dtype: str) -> npt.NDArray[Any]:
    if dtype in NUMPY_NAMES:
        return np.frombuffer(body, NUMPY_NAMES[dtype])
    fmt = FORMATS[FORMAT_NAMES[dtype]]
    codes = np.frombuffer(body, fmt.code_dtype.newbyteorder("<"))
    if fmt.bits == 4:  # two codes a byte, the first in the low half (torch's float4_e2m1fn_x2)
        codes = np.stack([codes & 0xF, codes >> 4], axis=-1).reshape(-1)
    return fmt.decode(codes)
