"""Weights, gradients and updates of a trainer's next step, in the formats that they are in."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import torch
from torch import Tensor
from torch.optim import Optimizer

from core.dtypes import FORMATS
from core.train.learning.trainer import Trainer
from core.train.profiler.results import Histogram, Numbers, TensorRow, Where

MOST_ROWS: Final = 200
_LOWEST: Final = -1100  # below the smallest subnormal of float64


@dataclass(slots=True)
class _Step:
    """What the optimizer found and left, weight by weight; `meant` is the update in float64."""

    names: list[str] = field(default_factory=list)
    before: list[Tensor] = field(default_factory=list)
    gradients: list[Tensor] = field(default_factory=list)
    meant: list[Tensor] = field(default_factory=list)
    after: list[Tensor] = field(default_factory=list)


def numbers_of_step(trainer: Trainer, where: Where) -> Numbers:
    """Return what the trainer's next step holds; it is done for that."""
    step = _done(trainer)
    moved = bool(step.after)
    spacings = [_spacing(each) for each in step.before]
    in_ulps = [(u.abs() / gap) for u, gap in zip(step.meant, spacings, strict=False)]
    rows = [_row(step, place, in_ulps) for place in range(len(step.names))]
    count = sum(row.count for row in rows) or 1
    dtype = rows[0].dtype
    return Numbers(
        where=where,
        weights=_histogram(step.before, dtype),
        gradients=_histogram(step.gradients, dtype),
        updates=_histogram(step.meant, dtype),
        ulps=_histogram(in_ulps, dtype),
        below_half=sum(row.below_half * row.count for row in rows) / count,
        unmoved=sum(row.unmoved * row.count for row in rows) / count,
        moved=moved,
        tensors=sorted(rows, key=lambda row: -row.count)[:MOST_ROWS],
    )


def _done(trainer: Trainer) -> _Step:
    """Do one step and keep what its optimizer saw; where it took none, the gradients alone."""
    step = _Step()
    trained = [(name, w) for name, w in trainer.model.named_parameters() if w.requires_grad]
    step.names = [name for name, _weight in trained]
    weights = [weight for _name, weight in trained]
    step.before = [weight.detach().clone() for weight in weights]

    @contextmanager
    def during(part: str) -> Iterator[None]:
        if part == "optimizer":
            step.gradients = [_gradient(weight) for weight in weights]
            step.meant = _meant(trainer.optimizer, weights)
        yield
        if part == "optimizer":
            step.after = [weight.detach().clone() for weight in weights]

    before, trainer.during = trainer.during, during
    trainer.launch_step()
    trainer.during = before
    if not step.gradients:
        step.gradients = [_gradient(weight) for weight in weights]
    return step


def _gradient(weight: Tensor) -> Tensor:
    return torch.zeros_like(weight) if weight.grad is None else weight.grad.detach().clone()


def _meant(optimizer: Optimizer, weights: Sequence[Tensor]) -> list[Tensor]:
    """Return the update that the optimizer computes, before the weights' format rounds it away.

    A copy of the optimizer does its step on copies of the weights and of its states in float64.
    """
    twin = copy.deepcopy(optimizer)
    pairs = [
        (mine, its)
        for group, others in zip(optimizer.param_groups, twin.param_groups, strict=True)
        for mine, its in zip(group["params"], others["params"], strict=True)
    ]
    for mine, its in pairs:
        its.data = mine.data.double()
        its.grad = None if mine.grad is None else mine.grad.double()
        for name, value in twin.state.get(its, {}).items():
            if torch.is_tensor(value) and value.shape == mine.shape and value.is_floating_point():
                twin.state[its][name] = value.double()
    twin.step()
    by_weight = {id(mine): its for mine, its in pairs}
    return [by_weight[id(weight)].detach() - weight.detach().double() for weight in weights]


def _spacing(weights: Tensor) -> Tensor:
    """Return the distance from each weight to its neighbour in its own format, in float64."""
    fmt = FORMATS[str(weights.dtype).removeprefix("torch.")]
    size = weights.detach().double().abs().clamp(min=fmt.smallest_normal, max=fmt.max)
    _mantissa, exponent = torch.frexp(size)  # size = mantissa * 2**exponent, 0.5 <= mantissa < 1
    return torch.ldexp(torch.full_like(size, fmt.eps), exponent - 1)


def _row(step: _Step, place: int, in_ulps: Sequence[Tensor]) -> TensorRow:
    before, gradient = step.before[place], step.gradients[place]
    moved = bool(step.after)
    return TensorRow(
        name=step.names[place],
        dtype=str(before.dtype).removeprefix("torch."),
        count=before.numel(),
        weight=_size(before),
        gradient=_size(gradient),
        update=_size(step.meant[place]) if moved else 0.0,
        below_half=_share(in_ulps[place] < 0.5) if moved else 1.0,
        unmoved=_share(step.after[place] == before) if moved else 1.0,
        non_finite=sum(int((~torch.isfinite(each)).sum()) for each in (before, gradient)),
    )


def _size(tensor: Tensor) -> float:
    """Return the root mean square of what is finite."""
    finite = tensor.double()[torch.isfinite(tensor)]
    return float(finite.square().mean().sqrt()) if finite.numel() else 0.0


def _share(which: Tensor) -> float:
    return float(which.double().mean())


def _histogram(tensors: Sequence[Tensor], dtype: str) -> Histogram:
    """Return the powers of two of the sizes of all numbers."""
    counts: dict[int, int] = {}
    zeros = non_finite = 0
    for tensor in tensors:
        size = tensor.detach().double().abs().flatten().cpu()
        finite = size[torch.isfinite(size)]
        non_finite += size.numel() - finite.numel()
        positive = finite[finite > 0]
        zeros += finite.numel() - positive.numel()
        _mantissa, exponent = torch.frexp(positive)
        for place, count in enumerate(torch.bincount(exponent - 1 - _LOWEST).tolist()):
            if count:
                counts[place + _LOWEST] = counts.get(place + _LOWEST, 0) + count
    low, high = min(counts, default=0), max(counts, default=-1)
    return Histogram(
        dtype=dtype,
        low=low,
        counts=[counts.get(place, 0) for place in range(low, high + 1)],
        zeros=zeros,
        non_finite=non_finite,
    )
