"""A matrix product with two precisions: one for the stored numbers, one for the running sums."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.dtypes.labs.rounder import ArrayRounder, array_rounder
from core.dtypes.number_formats.format import Format
from core.dtypes.rounding import Floats
from core.language import _


@dataclass(frozen=True, kw_only=True, slots=True)
class MatmulErrors:
    """How wrong a product is as its inner dimension grows.

    Attributes:
        storage: Name of the format of the inputs and of the result.
        accumulate: Name of the format of the running sums.
        chunk: Products that are added exactly before the running sum is rounded.
        depths: Inner dimensions, rising.
        errors: ||product - exact|| / ||exact|| (Frobenius) at each depth; not finite once a
            sum overflowed.
        product: The result at the last depth, (M, N), as stored.
    """

    storage: str
    accumulate: str
    chunk: int
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
    a: npt.ArrayLike, b: npt.ArrayLike, storage: Format, accumulate: Format, chunk: int = 1
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

    Raises:
        ValueError: If the shapes do not fit or the chunk is below 1.
    """
    depth = np.asarray(a).shape[-1]
    return matmul_errors(a, b, storage, accumulate, chunk, [depth])


def matmul_errors(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    storage: Format,
    accumulate: Format,
    chunk: int,
    depths: Sequence[int],
) -> MatmulErrors:
    """Return the errors of a[:, :k] @ b[:k] for each k of `depths`, from one pass over K.

    Args:
        a: (M, K).
        b: (K, N).
        storage: The format of the inputs and of the result.
        accumulate: The format of the running sums.
        chunk: Products that are added before the running sum is rounded, 1 or more.
        depths: Rising inner dimensions, each a multiple of the chunk or the last one.

    Raises:
        ValueError: If the shapes do not fit, the chunk is below 1 or a depth is out of range.
    """
    left, right = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    _check(left, right, chunk, depths)
    # Laid out by depth: a chunk of both is one contiguous block.
    rows = np.ascontiguousarray(storage.round(left).T)  # (K, M)
    columns = storage.round(right)  # (K, N)
    running = np.zeros((left.shape[0], right.shape[1]))  # (M, N)
    round_sums = array_rounder(accumulate)
    errors, stored, done = [], running, 0
    with np.errstate(over="ignore", invalid="ignore"):
        for depth in depths:
            running = _run(running, rows[done:depth], columns[done:depth], round_sums, chunk)
            stored = storage.round(running)
            exact = left[:, :depth] @ right[:depth]
            size = float(np.linalg.norm(exact))
            errors.append(float(np.linalg.norm(stored - exact)) / size if size else 0.0)
            done = depth
    return MatmulErrors(
        storage=storage.name,
        accumulate=accumulate.name,
        chunk=chunk,
        depths=tuple(depths),
        errors=tuple(errors),
        product=stored,
    )


def _run(
    running: Floats, rows: Floats, columns: Floats, round_sums: ArrayRounder, chunk: int
) -> Floats:
    for start in range(0, len(rows), chunk):
        part = rows[start : start + chunk].T @ columns[start : start + chunk]
        running = round_sums(running + part)
    return running


def _check(left: Floats, right: Floats, chunk: int, depths: Sequence[int]) -> None:
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:
        raise ValueError(
            _("{left} times {right} is no matrix product: use (M, K) and (K, N).").format(
                left=left.shape, right=right.shape
            )
        )
    if chunk < 1:
        raise ValueError(_("A chunk of {chunk} products: use 1 or more.").format(chunk=chunk))
    rising = list(depths) == sorted(set(depths))
    if not depths or not rising or not 1 <= depths[0] <= depths[-1] <= left.shape[1]:
        raise ValueError(
            _("The depths {depths} must rise and lie between 1 and {most}.").format(
                depths=list(depths), most=left.shape[1]
            )
        )
