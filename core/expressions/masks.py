"""Masks in an index, as the integers that they stand for: torch reads them so too."""

from collections.abc import Iterator

import torch
from torch import Tensor

from core.expressions.operation import Value

MASKS = {torch.bool, torch.uint8}


def masks_in(index: Value) -> list[Tensor]:
    """Return the tensors, and the lists as tensors, whose values decide how much is taken."""
    return [mask for item in _items(index) if (mask := _mask_of(item)) is not None]


def without_masks(index: Value) -> tuple[Value, ...]:
    """Return the index with each mask replaced by the coordinates where it is true."""
    return tuple(part for item in _items(index) for part in _parts_of(item))


def _items(index: Value) -> tuple[Value, ...]:
    return index if type(index) is tuple else (index,)


def _mask_of(item: Value) -> Tensor | None:
    if isinstance(item, Tensor):
        return item if item.dtype in MASKS else None
    is_mask = type(item) is list and {type(each) for each in _flat(item)} == {bool}
    return torch.tensor(item) if is_mask else None


def _parts_of(item: Value) -> tuple[Value, ...]:
    mask = _mask_of(item)
    if mask is None:
        return (item,)
    if mask.ndim == 0:
        return (bool(mask),)
    return mask.nonzero(as_tuple=True)


def _flat(items: list[Value]) -> Iterator[Value]:
    for each in items:
        if type(each) is list:
            yield from _flat(each)
        else:
            yield each
