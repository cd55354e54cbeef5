"""A matrix product with two precisions: one for the stored numbers, one for the running sums."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.dtypes.labs.rounder import array_rounder
from core.dtypes.number_formats.format import Format
from core.dtypes.rounding import Floats


@dataclass(frozen=True, kw_only=True, slots=True)
class MatmulErrors:
    """How wrong a product is as its inner dimension grows.

    Attributes:
        storage: Name of the format of the inputs and of the result.
        accumulate: Name of the format of the running sums.
        depths: Inner dimensions, rising.
        errors: ||product - exact|| / ||exact|| (Frobenius) at each depth; not finite once a
            sum overflowed.
        product: The result at the last depth, (M, N), as stored.
    """

    storage: str
    accumulate: str
    depths: tuple[int, ...]
    errors: tuple[float, ...]
    product: Floats

    @property
    def error(self) -> float:
        """The relative error at the last depth."""
        return self.errors[-1]


def normal_matrices(depth: int, num_rows: int = 16) -> tuple[Floats, Floats]:
    """Return (num_rows, depth) and (depth, num_rows) numbers from N(0, 1), always the same."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(num_rows, depth)), rng.normal(size=(depth, num_rows))


def matmul(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    storage: Format,
    accumulate: Format,
    chunk: int = 1,
    depths: Sequence[int] = (),
) -> MatmulErrors:
    """Return a @ b as a tensor core computes it, and its error against float64.

    Inputs are rounded to `storage`. The products of a chunk are added exactly (two numbers of up to
    24 bits multiply exactly in float64), then the chunk is added to the running sum, which is
    rounded to `accumulate`. The result is stored in `storage`.

    Args:
        a: (M, K).
        b: (K, N).
        storage: The format of the inputs and of the result.
        accumulate: The format of the running sums.
        chunk: Products that are added before the running sum is rounded, 1 or more.
        depths: Also of a[:, :k] @ b[:k] for each k of these, rising, each a multiple of the chunk
            or the last one; K alone unless said otherwise.
    """
    left, right = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    depths = tuple(depths) or (left.shape[1],)
    # Laid out by depth: a chunk of both is one contiguous block.
    rows = np.ascontiguousarray(storage.round(left).T)  # (K, M)
    columns = storage.round(right)  # (K, N)
    running = stored = np.zeros((left.shape[0], right.shape[1]))  # (M, N)
    round_sums = array_rounder(accumulate)
    errors, done = [], 0
    with np.errstate(over="ignore", invalid="ignore"):
        for depth in depths:
            for start in range(done, depth, chunk):
                end = min(start + chunk, depth)
                running = round_sums(running + rows[start:end].T @ columns[start:end])
            stored, done = storage.round(running), depth
            exact = left[:, :depth] @ right[:depth]
            size = float(np.linalg.norm(exact))
            errors.append(float(np.linalg.norm(stored - exact)) / size if size else 0.0)
    return MatmulErrors(
        storage=storage.name,
        accumulate=accumulate.name,
        depths=depths,
        errors=tuple(errors),
        product=stored,
    )
