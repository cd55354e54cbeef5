"""Steps and minima for a block of weights, as llama.cpp looks for them: many tries, the best kept.

All blocks are tried at once, one to a row. The arithmetic is float32, as there.
Source: ggml-org/ggml, src/ggml-quants.c, without an importance matrix.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

Singles = npt.NDArray[np.float32]

_TINY: Final = 1e-15  # a block whose largest magnitude is below is one of zeros
_MORE_LEVELS: Final = tuple(tenths / 10 for tenths in range(-9, 10) if tenths)


def extreme(blocks: Singles) -> Singles:
    """Return the value of largest magnitude of each row, with its sign; the first of equal ones."""
    places = np.abs(blocks).argmax(axis=-1)[..., None]
    return np.asarray(np.take_along_axis(blocks, places, axis=-1)[..., 0])


def over(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Singles:
    """Return a float32 quotient; 0 where the denominator is 0."""
    top, under = np.asarray(numerator, np.float32), np.asarray(denominator, np.float32)
    with np.errstate(all="ignore"):
        return np.where(under == 0, np.float32(0), top / under).astype(np.float32)


def fit_symmetric(blocks: Singles, levels: int) -> tuple[Singles, Singles]:
    """Return the step of each row, and codes from -levels to levels - 1.

    Nineteen grids, from nearly one level fewer to nearly one more; the step of each is the least
    squares one, with the square of a value as its weight.
    """
    largest = extreme(blocks)
    weights = blocks * blocks
    best: Singles = np.zeros(len(blocks), np.float32)
    step, codes = best.copy(), np.zeros_like(blocks)
    for more in (0.0, *_MORE_LEVELS):
        inverse = over(np.float32(-(levels + more)), largest)
        tried = np.clip(np.rint(blocks * inverse[:, None]), -levels, levels - 1)
        product = (weights * blocks * tried).sum(axis=1)
        square = (weights * tried * tried).sum(axis=1)
        better = (square > 0) & (product * product > best * square) | (more == 0.0)
        step = np.where(better, over(product, square), step)
        best = np.where(better, step * product, best)
        codes = np.where(better[:, None], tried, codes)
    none = np.abs(largest) < _TINY
    return np.where(none, np.float32(0), step), np.where(none[:, None], np.float32(0), codes)


def fit_range(
    blocks: Singles, top: int, first: float, num_more: int
) -> tuple[Singles, Singles, Singles]:
    """Return for each row a step, what is subtracted (0 or more), and codes from 0 to top.

    The first grid reaches from the lowest value, or 0, to the highest; the others have a few
    levels fewer or more, with a step and a lowest value that fit best. A value's weight is its
    magnitude plus the root mean square of its row.

    Args:
        blocks: A block to a row.
        top: The highest code.
        first: Levels beside `top` of the first further grid.
        num_more: How many steps of a tenth of a level follow.
    """
    weights = np.sqrt((blocks * blocks).mean(axis=1, keepdims=True)) + np.abs(blocks)
    highest = blocks.max(axis=1)
    lowest = np.minimum(blocks.min(axis=1), 0)
    flat, start = highest == lowest, lowest
    step = over(highest - lowest, np.float32(top))
    codes = _grid(blocks, lowest, over(np.float32(top), highest - lowest), top)
    error = _error(blocks, weights, codes, step, lowest)
    for number in range(num_more + 1):
        inverse = over(np.float32(first + 0.1 * number + top), highest - lowest)
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
    step = over(total * products - values * levels, determinant)
    lowest = over(squares * values - levels * products, determinant)
    above = lowest > 0  # a minimum is subtracted, never added
    step = np.where(above, over(products, squares), step)
    return determinant > 0, step, np.where(above, np.float32(0), lowest)
