"""Five block types of GGUF files: a tensor's codes, scales and minima, and what comes back.

Q8_0 and Q4_0 have one scale for 32 values. The K types have super-blocks of 256: each sub-block
has a small whole number for a scale, in Q4_K and Q5_K one for a minimum too, and what these count
stands once in the super-block.

Source: ggml-org/llama.cpp, ggml/src/ggml-common.h and ggml-quants.c.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.block_codec import as_single
from core.dtypes.blocks.block_formats import BlockFormat
from core.dtypes.blocks.block_layout import (
    Quantized,
    Shape,
    join_blocks,
    rows_of,
    scale_shape,
    split_blocks,
    spread,
)
from core.dtypes.blocks.gguf_encode import ENCODERS, Parts
from core.dtypes.blocks.scale_rules import ScaleRule
from core.dtypes.number_formats.int_format import IntFormat
from core.dtypes.number_formats.table import FORMATS
from core.dtypes.rounding import Floats

_SOURCE: Final = "ggml-org/llama.cpp, ggml/src/ggml-common.h; arithmetic of ggml/src/ggml-quants.c"


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class GgufQuantized(Quantized):
    """A tensor in a GGUF type."""

    parts: Parts  # what is stored, block by block; a short last block of a row ends in zeros
    minima: Floats  # what is subtracted in each block of `block_size` values


@dataclass(frozen=True, kw_only=True)
class GgufFormat(BlockFormat):
    """A block type of GGUF: value = d * scale * (code - zero) - dmin * minimum.

    A NaN or an infinity leaves nothing of its block; in a K type that is the block of 256.
    """

    stored_size: int  # values in a block as it is stored: 32, or 256 of the K types
    stored_bytes: int
    zero: int = 0  # the code of zero, where a type has no minima

    @property
    def bits_per_value(self) -> float:
        """Bits that one value costs, all that its block stores included."""
        return 8 * self.stored_bytes / self.stored_size

    @property
    def num_shared(self) -> int:
        """Values of a sub-block, which share a scale."""
        assert isinstance(self.block_size, int)  # noqa: S101  all rows have a number
        return self.block_size

    @property
    def block_bits(self) -> float:
        """Bits of what `block_size` values share."""
        return (self.bits_per_value - self.element.bits) * self.num_shared

    def quantize(self, x: npt.ArrayLike, scale_rule: ScaleRule | None = None) -> GgufQuantized:
        """Return codes, scales and minima of a tensor, as llama.cpp finds them.

        Raises:
            ValueError: If a scale rule is asked for, or `x` holds no real numbers.
        """
        self.own_or(scale_rule)
        values = as_single(x)
        blocks = split_blocks(values, self.stored_size)
        blocks = blocks.reshape(-1, self.stored_size // self.num_shared, self.num_shared)
        usable = np.asarray(np.isfinite(blocks).all(axis=(1, 2)))
        parts = ENCODERS[self.name](np.where(usable[:, None, None], blocks, np.float32(0)))
        parts.d[~usable] = np.nan
        return self.quantized(parts, values.shape, values)

    def quantized(
        self, parts: Parts, shape: Shape, values: npt.NDArray[np.float32] | None = None
    ) -> GgufQuantized:
        """Return stored parts as a tensor of a shape; `values` is what was quantized, if known."""
        scales = self._per_block(parts.d[:, None] * parts.scales, shape)
        minima = self._per_block(parts.dmin[:, None] * parts.minima, shape)
        zeros = np.divide(minima, scales, out=np.zeros_like(minima), where=scales != 0) + self.zero
        rows, columns = rows_of(shape, self.stored_size)[0], scale_shape(shape, self.stored_size)
        stored = parts.codes.reshape(rows, columns[-1], self.stored_size)
        codes = join_blocks(stored, shape, self.stored_size)
        element = self._decoded(codes, scales, minima, shape)
        return GgufQuantized(
            name=self.name,
            block_size=self.block_size,
            codes=(codes % self.element.num_codes).astype(self.element.code_dtype),
            clipped=self._beyond(element if values is None else values, scales, zeros),
            scale_codes=self._per_block(parts.scales, shape).astype(np.int64),
            scales=scales,
            tensor_scale=None,
            zero_points=zeros,
            nested=None,
            parts=parts,
            minima=minima,
        )

    def dequantize(self, quantized: Quantized) -> Floats:
        """Return the numbers that codes, scales and minima stand for, rounded to float32.

        Raises:
            ValueError: If another format quantized them.
        """
        if not isinstance(quantized, GgufQuantized) or quantized.name != self.name:
            return super().dequantize(quantized)  # refuses: the names differ
        codes = self.element.decode(quantized.codes)
        return self._decoded(codes, quantized.scales, quantized.minima, quantized.shape)

    def _per_block(self, numbers: npt.NDArray[np.generic], shape: Shape) -> Floats:
        """Return what each sub-block has, without those of the padding."""
        wanted = scale_shape(shape, self.block_size)
        rows = numbers.reshape(rows_of(shape, self.stored_size)[0], -1)
        return rows[:, : wanted[-1]].astype(np.float64).reshape(wanted)

    def _decoded(
        self, codes: npt.NDArray[np.generic], scales: Floats, minima: Floats, shape: Shape
    ) -> Floats:
        steps = spread(scales, shape, self.block_size).astype(np.float32)
        lowest = spread(minima, shape, self.block_size).astype(np.float32)
        moved = codes.astype(np.float32) - np.float32(self.zero)
        return (steps * moved - lowest).astype(np.float64)

    def _beyond(
        self, values: npt.NDArray[np.floating], scales: Floats, zeros: Floats
    ) -> npt.NDArray[np.bool_]:
        steps, moved = (spread(each, values.shape, self.block_size) for each in (scales, zeros))
        with np.errstate(all="ignore"):
            codes = np.where(steps != 0, values / steps + moved, 0.0)
        lowest, highest = (-127, 127) if self.name == "Q8_0" else (0, self.element.max)
        beyond = (codes < lowest - 0.501) | (codes > highest + 0.501)  # the scale was rounded
        return np.asarray(beyond)


def _row(name: str, bits: int, sub_block: int, stored: tuple[int, int], zero: int) -> GgufFormat:
    own = IntFormat(name=f"uint{bits}", width=bits, signed=False, source=_SOURCE)
    return GgufFormat(
        name=name,
        element=FORMATS["int8"] if name == "Q8_0" else own,
        block_size=sub_block,
        scale=FORMATS["float16"],
        symmetric=name == "Q8_0",
        stored_size=stored[0],
        stored_bytes=stored[1],
        zero=zero,
        source=_SOURCE,
    )


_ROWS: Final = (
    _row("Q8_0", 8, 32, (32, 34), 0),
    _row("Q6_K", 6, 16, (256, 210), 32),
    _row("Q5_K", 5, 32, (256, 176), 0),
    _row("Q4_K", 4, 32, (256, 144), 0),
    _row("Q4_0", 4, 32, (32, 18), 8),
)

GGUF_FORMATS: Final[Mapping[str, GgufFormat]] = MappingProxyType({row.name: row for row in _ROWS})
"""The types by name, wide to narrow."""
