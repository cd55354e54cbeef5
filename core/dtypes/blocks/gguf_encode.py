"""From values to the numbers that a GGUF block stores: codes, scales, minima, and theirs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.gguf_fit import Singles, extreme, fit_range, fit_symmetric, over

Whole = npt.NDArray[np.int64]

_LARGEST_HALF: Final = 65504.0
_TINY: Final = 1e-15


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Parts:
    """What is stored of blocks: value = d * scale * (code - zero) - dmin * minimum.

    Attributes:
        codes: (blocks, sub-blocks, values), from 0; Q8_0 alone has signed ones.
        scales: (blocks, sub-blocks), whole numbers; 1 where a block has no sub-blocks.
        minima: The same; 0 where the type has none.
        d: (blocks,) numbers of float16.
        dmin: The same.
    """

    codes: Whole
    scales: Whole
    minima: Whole
    d: Singles
    dmin: Singles


def as_half(numbers: Singles) -> Singles:
    """Return numbers as float16 keeps them; one beyond it becomes its largest."""
    clipped = np.clip(numbers, -_LARGEST_HALF, _LARGEST_HALF)
    return clipped.astype(np.float16).astype(np.float32)


def _plain(codes: npt.NDArray[np.floating], d: Singles) -> Parts:
    shape = codes.shape[:2]
    return Parts(
        codes=codes.astype(np.int64),
        scales=np.ones(shape, np.int64),
        minima=np.zeros(shape, np.int64),
        d=as_half(d),
        dmin=np.zeros(len(d), np.float32),
    )


def _q8_0(blocks: Singles) -> Parts:
    d = np.abs(blocks).max(axis=(1, 2)) / np.float32(127)
    scaled = (blocks * over(1, d)[:, None, None]).astype(np.float64)
    away = np.trunc(scaled + np.copysign(0.5, scaled))  # a half goes away from zero
    return _plain(np.clip(away, -127, 127), d)


def _q4_0(blocks: Singles) -> Parts:
    d = extreme(blocks[:, 0]) / np.float32(-8)
    scaled = blocks * over(1, d)[:, None, None] + np.float32(8.5)
    return _plain(np.clip(np.floor(scaled), 0, 15), d)


def _with_minima(blocks: Singles, top: int, first: float, num_more: int) -> Parts:
    shape = blocks.shape[:2]
    rows = blocks.reshape(-1, blocks.shape[2])
    step, minimum, codes = fit_range(rows, top, first, num_more)
    d, scales = _six_bits(step.reshape(shape))
    dmin, minima = _six_bits(minimum.reshape(shape))
    stored, lowest = d[:, None] * scales, dmin[:, None] * minima
    again = np.rint(over(blocks + lowest[..., None].astype(np.float32), stored[..., None]))
    kept = np.where(stored[..., None] != 0, np.clip(again, 0, top), codes.reshape(blocks.shape))
    return Parts(codes=kept.astype(np.int64), scales=scales, minima=minima, d=d, dmin=dmin)


def _six_bits(numbers: Singles) -> tuple[Singles, Whole]:
    """Return one float16 for a block and 0 to 63 for each of its sub-blocks."""
    largest = np.maximum(numbers.max(axis=1), 0)
    codes = np.rint(over(63, largest)[:, None] * numbers)
    return as_half(largest / np.float32(63)), np.clip(codes, 0, 63).astype(np.int64)


def _q6_k(blocks: Singles) -> Parts:
    shape = blocks.shape[:2]
    step, codes = fit_symmetric(blocks.reshape(-1, blocks.shape[2]), 32)
    steps = step.reshape(shape)
    largest = extreme(steps)
    largest = np.where(np.abs(largest) < _TINY, np.float32(0), largest)
    d = as_half(largest / np.float32(-128))
    scales = np.clip(np.rint(over(-128, largest)[:, None] * steps), -128, 127).astype(np.int64)
    stored = (d[:, None] * scales)[..., None].astype(np.float32)
    again = np.clip(np.rint(over(blocks, stored)), -32, 31)
    kept = np.where(stored != 0, again, codes.reshape(blocks.shape)) + 32
    return Parts(
        codes=np.where(largest[:, None, None] == 0, 0, kept).astype(np.int64),
        scales=scales,
        minima=np.zeros(shape, np.int64),
        d=d,
        dmin=np.zeros(len(d), np.float32),
    )


ENCODERS: Final[Mapping[str, Callable[[Singles], Parts]]] = {
    "Q8_0": _q8_0,
    "Q6_K": _q6_k,
    "Q5_K": lambda blocks: _with_minima(blocks, 31, -0.5, 15),
    "Q4_K": lambda blocks: _with_minima(blocks, 15, -1.0, 20),
    "Q4_0": _q4_0,
}
"""Type -> what finds the stored numbers of (blocks, sub-blocks, values)."""
