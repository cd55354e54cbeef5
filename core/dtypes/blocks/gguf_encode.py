"""From values to the numbers that a GGUF block stores: codes, scales, minima, and theirs.

Steps and minima are found as llama.cpp looks for them: many tries, the best kept. All blocks are
tried at once, one to a row. The arithmetic is float32, as there.
Source: ggml-org/ggml, src/ggml-quants.c, without an importance matrix.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

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


def _plain(codes: npt.NDArray[np.floating], d: Singles) -> Parts:
    shape = codes.shape[:2]
    return Parts(
        codes=codes.astype(np.int64),
        scales=np.ones(shape, np.int64),
        minima=np.zeros(shape, np.int64),
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
    return Parts(
        codes=np.where(largest[:, None, None] == 0, 0, kept).astype(np.int64),
        scales=scales,
        minima=np.zeros(shape, np.int64),
        d=d,
        dmin=np.zeros(len(d), np.float32),
    )


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
