"""Five block types of GGUF files: a tensor's codes, scales and minima, and what comes back.

Q8_0 and Q4_0 have one scale for 32 values. The K types have super-blocks of 256: each sub-block
has a small whole number for a scale, in Q4_K and Q5_K one for a minimum too, and what these count
stands once in the super-block.

Steps and minima are found as llama.cpp looks for them, without an importance matrix: many tries,
the best kept. All blocks are tried at once, one to a row. The arithmetic is float32, as there.
Source: ggml-org/llama.cpp, ggml/src/ggml-common.h and ggml-quants.c.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.block_formats import BlockFormat, as_single
from core.dtypes.blocks.block_layout import (
    Quantized,
    Shape,
    join_blocks,
    rows_of,
    scale_shape,
    split_blocks,
    spread,
)
from core.dtypes.blocks.scale_rules import ScaleRule
from core.dtypes.number_formats.int_format import IntFormat
from core.dtypes.number_formats.table import FORMATS
from core.dtypes.rounding import Floats

_SOURCE: Final = "ggml-org/llama.cpp, ggml/src/ggml-common.h; arithmetic of ggml/src/ggml-quants.c"
Singles = npt.NDArray[np.float32]
Whole = npt.NDArray[np.int64]

_LARGEST_HALF: Final = 65504.0
_TINY: Final = 1e-15  # a block whose largest magnitude is below is one of zeros
_MORE_LEVELS: Final = tuple(tenths / 10 for tenths in range(-9, 10) if tenths)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Parts:
    """What is stored of blocks: value = d * scale * (code - zero) - dmin * minimum.

    Codes are (blocks, sub-blocks, values), from 0, but signed in Q8_0; scales and minima are whole
    numbers (blocks, sub-blocks), 1 and 0 where a type has none; d and dmin (blocks,) are float16.
    """

    codes: Whole
    scales: Whole
    minima: Whole
    d: Singles
    dmin: Singles


def _as_half(numbers: Singles) -> Singles:
    """Return numbers as float16 keeps them; one beyond it becomes its largest."""
    clipped = np.clip(numbers, -_LARGEST_HALF, _LARGEST_HALF)
    return clipped.astype(np.float16).astype(np.float32)


def _plain(codes: npt.NDArray[np.floating], d: Singles, scales: Whole | None = None) -> Parts:
    """Return parts without minima; scales that are not given are 1."""
    ones = np.ones(codes.shape[:2], np.int64)
    return Parts(
        codes=codes.astype(np.int64),
        scales=ones if scales is None else scales,
        minima=np.zeros_like(ones),
        d=_as_half(d),
        dmin=np.zeros(len(d), np.float32),
    )


def _q8_0(blocks: Singles) -> Parts:
    d = np.abs(blocks).max(axis=(1, 2)) / np.float32(127)
    scaled = (blocks * _over(1, d)[:, None, None]).astype(np.float64)
    away = np.trunc(scaled + np.copysign(0.5, scaled))  # a half goes away from zero
    return _plain(np.clip(away, -127, 127), d)


def _q4_0(blocks: Singles) -> Parts:
    d = _extreme(blocks[:, 0]) / np.float32(-8)
    scaled = blocks * _over(1, d)[:, None, None] + np.float32(8.5)
    return _plain(np.clip(np.floor(scaled), 0, 15), d)


def _with_minima(blocks: Singles, top: int, first: float, num_more: int) -> Parts:
    shape = blocks.shape[:2]
    rows = blocks.reshape(-1, blocks.shape[2])
    step, minimum, codes = _fit_range(rows, top, first, num_more)
    d, scales = _six_bits(step.reshape(shape))
    dmin, minima = _six_bits(minimum.reshape(shape))
    stored, lowest = d[:, None] * scales, dmin[:, None] * minima
    again = np.rint(_over(blocks + lowest[..., None].astype(np.float32), stored[..., None]))
    kept = np.where(stored[..., None] != 0, np.clip(again, 0, top), codes.reshape(blocks.shape))
    return Parts(codes=kept.astype(np.int64), scales=scales, minima=minima, d=d, dmin=dmin)


def _six_bits(numbers: Singles) -> tuple[Singles, Whole]:
    """Return one float16 for a block and 0 to 63 for each of its sub-blocks."""
    largest = np.maximum(numbers.max(axis=1), 0)
    codes = np.rint(_over(63, largest)[:, None] * numbers)
    return _as_half(largest / np.float32(63)), np.clip(codes, 0, 63).astype(np.int64)


def _q6_k(blocks: Singles) -> Parts:
    shape = blocks.shape[:2]
    step, codes = _fit_symmetric(blocks.reshape(-1, blocks.shape[2]), 32)
    steps = step.reshape(shape)
    largest = _extreme(steps)
    largest = np.where(np.abs(largest) < _TINY, np.float32(0), largest)
    d = _as_half(largest / np.float32(-128))
    scales = np.clip(np.rint(_over(-128, largest)[:, None] * steps), -128, 127).astype(np.int64)
    stored = (d[:, None] * scales)[..., None].astype(np.float32)
    again = np.clip(np.rint(_over(blocks, stored)), -32, 31)
    kept = np.where(stored != 0, again, codes.reshape(blocks.shape)) + 32
    return _plain(np.where(largest[:, None, None] == 0, 0, kept), d, scales)


def _extreme(blocks: Singles) -> Singles:
    """Return the value of largest magnitude of each row, with its sign; the first of equal ones."""
    places = np.abs(blocks).argmax(axis=-1)[..., None]
    return np.asarray(np.take_along_axis(blocks, places, axis=-1)[..., 0])


def _over(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Singles:
    """Return a float32 quotient; 0 where the denominator is 0."""
    top, under = np.asarray(numerator, np.float32), np.asarray(denominator, np.float32)
    with np.errstate(all="ignore"):
        return np.where(under == 0, np.float32(0), top / under).astype(np.float32)


def _fit_symmetric(blocks: Singles, levels: int) -> tuple[Singles, Singles]:
    """Return the step of each row, and codes from -levels to levels - 1.

    Nineteen grids, from nearly one level fewer to nearly one more; the step of each is the least
    squares one, with the square of a value as its weight.
    """
    largest = _extreme(blocks)
    weights = blocks * blocks
    best: Singles = np.zeros(len(blocks), np.float32)
    step, codes = best.copy(), np.zeros_like(blocks)
    for more in (0.0, *_MORE_LEVELS):
        inverse = _over(np.float32(-(levels + more)), largest)
        tried = np.clip(np.rint(blocks * inverse[:, None]), -levels, levels - 1)
        product = (weights * blocks * tried).sum(axis=1)
        square = (weights * tried * tried).sum(axis=1)
        better = (square > 0) & (product * product > best * square) | (more == 0.0)
        step = np.where(better, _over(product, square), step)
        best = np.where(better, step * product, best)
        codes = np.where(better[:, None], tried, codes)
    none = np.abs(largest) < _TINY
    return np.where(none, np.float32(0), step), np.where(none[:, None], np.float32(0), codes)


def _fit_range(
    blocks: Singles, top: int, first: float, num_more: int
) -> tuple[Singles, Singles, Singles]:
    """Return for each row a step, what is subtracted (0 or more), and codes from 0 to top.

    The first grid reaches from the lowest value, or 0, to the highest; the others have a few
    levels fewer or more, beginning with `first` and in `num_more` steps of a tenth, with a step and
    a lowest value that fit best. A value's weight is its magnitude plus the root mean square of its
    row.
    """
    weights = np.sqrt((blocks * blocks).mean(axis=1, keepdims=True)) + np.abs(blocks)
    highest = blocks.max(axis=1)
    lowest = np.minimum(blocks.min(axis=1), 0)
    flat, start = highest == lowest, lowest
    step = _over(highest - lowest, np.float32(top))
    codes = _grid(blocks, lowest, _over(np.float32(top), highest - lowest), top)
    error = _error(blocks, weights, codes, step, lowest)
    for number in range(num_more + 1):
        inverse = _over(np.float32(first + 0.1 * number + top), highest - lowest)
        tried = _grid(blocks, lowest, inverse, top)
        solved, new_step, new_lowest = _solve(blocks, weights, tried)
        new_error = _error(blocks, weights, tried, new_step, new_lowest)
        better = solved & (new_error < error)
        codes = np.where(better[:, None], tried, codes)
        step, lowest = np.where(better, new_step, step), np.where(better, new_lowest, lowest)
        error = np.where(better, new_error, error)
    step = np.where(flat, np.float32(0), step)
    lowest = np.where(flat, start, lowest)
    return step, -lowest, np.where(flat[:, None], np.float32(0), codes)


def _grid(blocks: Singles, lowest: Singles, inverse: Singles, top: int) -> Singles:
    return np.clip(np.rint(inverse[:, None] * (blocks - lowest[:, None])), 0, top)


def _error(
    blocks: Singles, weights: Singles, codes: Singles, step: Singles, lowest: Singles
) -> Singles:
    lost = step[:, None] * codes + lowest[:, None] - blocks
    return np.asarray((weights * lost * lost).sum(axis=1))


def _solve(
    blocks: Singles, weights: Singles, codes: Singles
) -> tuple[npt.NDArray[np.bool_], Singles, Singles]:
    """Return where weighted least squares has a solution, its step, and its lowest value."""
    total, values = weights.sum(axis=1), (weights * blocks).sum(axis=1)
    levels, squares = (weights * codes).sum(axis=1), (weights * codes * codes).sum(axis=1)
    products = (weights * blocks * codes).sum(axis=1)
    determinant = total * squares - levels * levels
    step = _over(total * products - values * levels, determinant)
    lowest = _over(squares * values - levels * products, determinant)
    above = lowest > 0  # a minimum is subtracted, never added
    step = np.where(above, _over(products, squares), step)
    return determinant > 0, step, np.where(above, np.float32(0), lowest)


ENCODERS: Final[Mapping[str, Callable[[Singles], Parts]]] = {
    "Q8_0": _q8_0,
    "Q6_K": _q6_k,
    "Q5_K": lambda blocks: _with_minima(blocks, 31, -0.5, 15),
    "Q4_K": lambda blocks: _with_minima(blocks, 15, -1.0, 20),
    "Q4_0": _q4_0,
}
"""Type -> what finds the stored numbers of (blocks, sub-blocks, values)."""


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
