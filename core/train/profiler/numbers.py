"""Weights, gradients and updates of a trainer's next step, in the formats that they are in."""

import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import torch
from torch import Tensor
from torch.optim import Optimizer

from core.train.learning.trainer import Trainer
from core.train.learning.updates import ulp
from core.train.profiler.results import Histogram, Numbers, TensorRow
from core.train.profiler.step import surrounded, where_of

MOST_ROWS: Final = 200
_LOWEST: Final = -1100  # below the smallest subnormal of float64


def numbers_of_step(trainer: Trainer) -> Numbers:
    """Return what the trainer's next step holds; it is done for that.

    Where the optimizer takes no step, because a number is not finite, there are no updates.
    """
    where = where_of(trainer)
    named = {name: each for name, each in trainer.model.named_parameters() if each.requires_grad}
    weights = list(named.values())
    before, gradients, meant = _copies(weights), list[Tensor](), list[Tensor]()

    @contextmanager
    def during(part: str) -> Iterator[None]:
        if part == "optimizer":
            gradients.extend(_gradients(weights))
            meant.extend(meant_updates(trainer.optimizer, weights))
        yield

    with surrounded(trainer, during):
        result = trainer.train_step()
    if result.skipped or result.overflowed:
        meant.clear()
    gradients = gradients or _gradients(weights)
    updates = meant or [torch.zeros_like(each) for each in before]
    rows = list(map(_row, named, before, gradients, updates, _copies(weights)))
    sizes = Counter[str]()
    for row in rows:
        sizes[row.dtype] += row.size
    count = sizes.total()
    return Numbers(
        where=where,
        dtype=sizes.most_common(1)[0][0],
        weights=histogram(before),
        gradients=histogram(gradients),
        updates=histogram(meant),
        below_half=sum(row.below_half * row.size for row in rows) / count,
        unmoved=sum(row.unmoved * row.size for row in rows) / count,
        moved=bool(meant),
        tensors=sorted(rows, key=lambda row: -row.size)[:MOST_ROWS],
    )


def _copies(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [each.detach().cpu().clone() for each in tensors]


def _gradients(weights: Sequence[Tensor]) -> list[Tensor]:
    return _copies([torch.zeros_like(w) if w.grad is None else w.grad for w in weights])


def meant_updates(optimizer: Optimizer, weights: Sequence[Tensor]) -> list[Tensor]:
    """Return the updates that the optimizer computes, before the weights' format rounds them away.

    A copy of the optimizer does its step on copies of the weights and of its states in float64.
    """
    twin = copy.deepcopy(optimizer)
    mine = [each for group in optimizer.param_groups for each in group["params"]]
    theirs = [each for group in twin.param_groups for each in group["params"]]
    for weight, its in zip(mine, theirs, strict=True):
        its.data = weight.data.double()
        its.grad = None if weight.grad is None else weight.grad.double()
        for name, value in twin.state.get(its, {}).items():
            if torch.is_tensor(value) and value.shape == weight.shape and value.dim():
                twin.state[its][name] = value.double()
    twin.step()
    moved = {id(weight): its.detach() for weight, its in zip(mine, theirs, strict=True)}
    return [(moved[id(weight)] - weight.detach().double()).cpu() for weight in weights]


def _row(name: str, before: Tensor, gradient: Tensor, update: Tensor, after: Tensor) -> TensorRow:
    return TensorRow(
        name=name,
        dtype=str(before.dtype).removeprefix("torch."),
        size=before.numel(),
        weight=_size(before),
        gradient=_size(gradient),
        update=_size(update),
        below_half=_share(update.abs() < ulp(before).double() / 2),
        unmoved=_share(after == before),
        non_finite=sum(int((~torch.isfinite(each)).sum()) for each in (before, gradient)),
    )


def _size(tensor: Tensor) -> float:
    """Return the root mean square of what is finite."""
    finite = tensor.double()[torch.isfinite(tensor)]
    return float(finite.square().mean().sqrt()) if finite.numel() else 0.0


def _share(which: Tensor) -> float:
    return float(which.double().mean())


def histogram(tensors: Sequence[Tensor]) -> Histogram:
    """Return the powers of two of the sizes of all numbers."""
    counts, zeros, non_finite = Counter[int](), 0, 0
    for tensor in tensors:
        size = tensor.detach().double().abs().flatten()
        positive = size[torch.isfinite(size) & (size > 0)]
        bad = int((~torch.isfinite(size)).sum())
        zeros += size.numel() - positive.numel() - bad
        non_finite += bad
        _mantissa, exponent = torch.frexp(positive)
        found = torch.bincount(exponent - 1 - _LOWEST).tolist()
        counts.update({place + _LOWEST: count for place, count in enumerate(found) if count})
    low, high = min(counts, default=0), max(counts, default=-1)
    every = [counts[place] for place in range(low, high + 1)]
    return Histogram(low=low, counts=every, zeros=zeros, non_finite=non_finite)
