"""One tensor and its bytes: the famous ones, or a shape that the reader types."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from core.budget.item import Formula, Item, counted, total
from core.budget.table import read_table
from core.budget.weights.stored import quantized_weights
from core.dtypes import BLOCK_FORMATS, FORMATS
from core.dtypes.blocks.block_formats import BlockFormat
from core.language import N_, _

MAX_DIMS: Final = 6
MAX_NUMBERS: Final = 10**15
_BYTES: Final = tuple(
    Formula("".join(f"length_{axis} * " for axis in range(num_dims)) + "element_bits // 8")
    for num_dims in range(MAX_DIMS + 1)
)
_SOURCE: Final = N_("one number for each index of the shape")


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorRow:
    """A tensor that a lecture or a tutorial speaks of."""

    name: str
    shape: tuple[int, ...]
    source: str


def _row(row: dict[str, Any]) -> TensorRow:
    return TensorRow(shape=tuple(row.pop("shape")), **row)


TENSORS: Final = {key: _row(row) for key, row in read_table(__file__).items()}


def read_shape(text: str) -> tuple[int, ...]:
    """Return the lengths in a text such as "49152 x 12288" or "2, 128, 50257".

    Raises:
        ValueError: If it is no shape of one to six lengths, or it has too many numbers.
    """
    parts = [part for part in re.split(r"[\sx×*,;()\[\]]+", text.strip().lower()) if part]
    if not 1 <= len(parts) <= MAX_DIMS or not all(re.fullmatch(r"[0-9_]{1,18}", p) for p in parts):
        raise ValueError(
            _("{text} is no shape; write 1 to {most} whole numbers with × between them.").format(
                text=f"“{text[:40]}”", most=MAX_DIMS
            )
        )
    shape = tuple(int(part.replace("_", "") or 0) for part in parts)
    if not 1 <= math.prod(shape) <= MAX_NUMBERS:
        raise ValueError(
            _("A tensor of {shape} has {count} numbers; it must have 1 to {most}.").format(
                shape=shape_text(shape), count=f"{math.prod(shape):,}"[:40], most=f"{MAX_NUMBERS:,}"
            )
        )
    return shape


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape as it is written for people.

    >>> shape_text((49152, 12288))
    '49,152 × 12,288'
    """
    return " × ".join(f"{length:,}" for length in shape)


def block_bits(format_name: str) -> tuple[int, int, int]:
    """Return the bits of a value, the values in a block and the bits that a block shares.

    >>> block_bits("bfloat16"), block_bits("nvfp4")
    ((16, 1, 0), (4, 16, 8))
    """
    fmt = BLOCK_FORMATS.get(format_name)
    if fmt is None or not isinstance(fmt.block_size, int):
        return FORMATS[format_name].bits, 1, 0
    return fmt.element.bits, fmt.block_size, fmt.scale.bits


def tensor_bytes(shape: Sequence[int], format_name: str) -> Item:
    """Return the bytes of a tensor in a format, with what its blocks share.

    Raises:
        ValueError: If the format is unknown.
    """
    fmt = BLOCK_FORMATS.get(format_name) or FORMATS.get(format_name)
    if fmt is None:
        raise ValueError(f"format {format_name!r} is none of FORMATS and BLOCK_FORMATS")
    if isinstance(fmt, BlockFormat):
        return replace(quantized_weights(math.prod(shape), fmt), name="tensor")
    values = {f"length_{axis}": length for axis, length in enumerate(shape)}
    values["element_bits"] = fmt.bits
    codes = counted("codes", _BYTES[len(shape)], values, _SOURCE)
    return total("tensor", [codes], source=_SOURCE)
