"""A living tensor as plain data: its values while they are few, and its statistics."""

from typing import Final

import torch
from torch import Tensor

from core.autograd.graph import Statistics, TensorInfo
from core.expressions.dispatch import storage_id, unwatched

MAX_VALUES: Final = 4096  # of one tensor
MAX_VALUE_BYTES: Final = 8_000_000  # of all values of a capture
VALUE_BYTES: Final = 32  # a Python float and its place in a tuple

Place = tuple[int, int, torch.dtype, int, tuple[tuple[int, int], ...]]


class Budget:
    """How many values may still be kept, and what is known of large tensors already."""

    def __init__(self, max_values: int = MAX_VALUES) -> None:
        self._left, self._max_values = MAX_VALUE_BYTES // VALUE_BYTES, max_values
        self._known: dict[Place, tuple[Tensor, Statistics | None]] = {}

    def info(self, x: Tensor) -> TensorInfo:
        """Return what a tensor is now; looking counts as no operation of whoever watches."""
        with unwatched():
            return self._info(x.detach())

    def _info(self, x: Tensor) -> TensorInfo:
        values = None
        if x.numel() <= min(self._max_values, self._left) and _has_data(x):
            self._left -= x.numel()
            values = tuple(_real(x).reshape(-1).tolist())
        return TensorInfo(
            shape=tuple(x.shape),
            dtype=str(x.dtype).removeprefix("torch."),
            num_bytes=x.numel() * x.element_size(),
            values=values,
            statistics=self._statistics(x),
        )

    def _statistics(self, x: Tensor) -> Statistics | None:
        """Read a large tensor once while nothing is written into it, whichever way it is turned.

        It is held: memory that was let go would be another tensor's soon.
        """
        if x.numel() <= MAX_VALUES or x.is_inference() or not _has_data(x):
            return statistics_of(x)
        place = _place(x)
        if place not in self._known:
            self._known[place] = x, statistics_of(x)
        return self._known[place][1]


def statistics_of(x: Tensor) -> Statistics | None:
    """Return a tensor in a few numbers; None if it has no elements or no data."""
    if not x.numel() or not _has_data(x):
        return None
    real = _real(x)
    if real.numel() == 1:
        return _of_one(float(real))
    low, high = torch.aminmax(real)
    numbers = torch.stack((low, high, real.mean(), torch.linalg.vector_norm(real))).tolist()
    if all(number - number == 0 for number in numbers):
        return Statistics(minimum=numbers[0], maximum=numbers[1], mean=numbers[2], norm=numbers[3])
    return _of_some_not_finite(real)


def _of_one(value: float) -> Statistics:
    is_finite = value - value == 0
    kept = value if is_finite else None
    return Statistics(
        minimum=kept,
        maximum=kept,
        mean=kept,
        norm=abs(value) if is_finite else None,
        num_nan=int(value != value),  # noqa: PLR0124  NaN alone differs from itself
        num_inf=int(not is_finite and value == value),  # noqa: PLR0124
    )


def _of_some_not_finite(real: Tensor) -> Statistics:
    """Return the extremes of the finite values; there is no mean or norm of the others."""
    finite = real[real.isfinite()]
    has_finite = finite.numel() > 0
    return Statistics(
        minimum=float(finite.min()) if has_finite else None,
        maximum=float(finite.max()) if has_finite else None,
        mean=None,
        norm=None,
        num_nan=int(real.isnan().sum()),
        num_inf=int(real.isinf().sum()),
    )


def _real(x: Tensor) -> Tensor:
    """Return all values as real numbers; float64 and float32 stay what they are.

    They lie where they lay: copying a transposed gradient into a row takes longer than reading it.
    """
    if x.is_complex():
        x = torch.view_as_real(x.resolve_conj())
    return x if x.dtype in {torch.float32, torch.float64} else x.double()


def _place(x: Tensor) -> Place:
    """Return what is the same for two tensors of the same elements, a transposed one too."""
    lengths = zip(x.stride(), x.shape, strict=True)
    steps = tuple(sorted(step for step in lengths if step[1] > 1))
    return storage_id(x), int(x.storage_offset()), x.dtype, x._version, steps


def _has_data(x: Tensor) -> bool:
    return not x.is_meta
