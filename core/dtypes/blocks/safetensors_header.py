"""The list of tensors in a `.safetensors` file: a length, a JSON object, then all their bytes.

The layout is written down in the README of github.com/huggingface/safetensors. The file is taken to
be hostile: what its header says is compared with what is there before anything is read.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from core.dtypes.blocks.file_checks import check_size, cut_short, refusal
from core.language import _

LENGTH_BYTES: Final = 8  # of the number before the header, which says how long the header is
MAX_TENSORS: Final = 2000
MAX_DIMS: Final = 64  # numpy has no tensor with more
MAX_LENGTH: Final = 2**63  # of one axis: the counters of torch and numpy end there
MAX_NAME: Final = 200  # characters
METADATA: Final = "__metadata__"
# What the JSON of a hostile header makes json raise.
_JSON_ERRORS: Final = (ValueError, RecursionError)
# Bits of one value, by the file's name of the dtype (safetensors 0.8, enum Dtype).
BITS: Final[Mapping[str, int]] = MappingProxyType(
    {
        **dict.fromkeys(("F64", "I64", "U64", "C64"), 64),
        **dict.fromkeys(("F32", "I32", "U32"), 32),
        **dict.fromkeys(("F16", "BF16", "I16", "U16"), 16),
        **dict.fromkeys(("F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "F8_E8M0"), 8),
        **dict.fromkeys(("I8", "U8", "BOOL"), 8),
        **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
        "F4": 4,
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredTensor:
    """One tensor of a file.

    Attributes:
        name: What the file calls it.
        dtype: The file's word, for instance "BF16".
        shape: Empty for a single number.
        begin: Its first byte, counted from the start of the file.
        end: The byte behind its last one.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int

    @property
    def num_values(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)


def is_safetensors(name: str, data: bytes) -> bool:
    """Return whether a file calls itself one, or begins like one: a length, then a JSON object."""
    begins_so = data[LENGTH_BYTES : LENGTH_BYTES + 1] == b"{"
    return name.lower().endswith(".safetensors") or begins_so


def list_tensors(name: str, data: bytes) -> tuple[StoredTensor, ...]:
    """Return the tensors of a `.safetensors` file in the order of their bytes.

    Args:
        name: What the reader calls the file; it begins the error message.
        data: The whole file.

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


def _header(name: str, text: bytes) -> dict[str, Any]:
    """Return the description of every tensor by its name."""
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
    """Return one tensor as its description says, if that fits together."""
    if len(key) > MAX_NAME:
        long = _("The name of a tensor has {count} characters: use at most {most}.")
        raise refusal(name, long.format(count=f"{len(key):,}", most=MAX_NAME))
    if not _is_described(about):
        lacks = _("Tensor {tensor} lacks a dtype, a shape or two offsets: save the file again.")
        raise refusal(name, lacks.format(tensor=key))
    dtype, shape, (begin, end) = about["dtype"], about["shape"], about["data_offsets"]
    if dtype not in BITS:
        wrong = _("Tensor {tensor} has the unknown dtype {dtype}: known are {names}.")
        message = wrong.format(tensor=key, dtype=dtype[:MAX_NAME], names=", ".join(BITS))
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
            shared = _("Tensor {tensor} lies on bytes of another one: save the file again.")
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
