"""Tensors in an index whose values decide what is taken: masks, and numbers without dimensions."""

from collections.abc import Iterator
from typing import Final

import torch
from torch import Tensor

from core.expressions.operation import Value

_MASKS: Final = {torch.bool, torch.uint8}


def read_by(index: Value) -> list[Tensor]:
    """Return the tensors that torch reads before it knows the shape; of a list, as a tensor."""
    return [x for item in _items(index) if (x := _read_by(item)) is not None]


def with_coordinates(index: Value) -> tuple[Value, ...]:
    """Return the index with each mask replaced by the coordinates where it is true, as torch does.

    A tensor without dimensions becomes its number.
    """
    return tuple(part for item in _items(index) for part in _coordinates(item))


def _items(index: Value) -> tuple[Value, ...]:
    return index if type(index) is tuple else (index,)


def _read_by(item: Value) -> Tensor | None:
    if isinstance(item, Tensor):
        return item if item.dtype in _MASKS or not item.ndim else None
    is_mask = type(item) is list and {type(each) for each in _leaves(item)} == {bool}
    return torch.tensor(item) if is_mask else None


def _coordinates(item: Value) -> tuple[Value, ...]:
    x = _read_by(item)
    if x is None:
        return (item,)
    if x.ndim:
        return x.nonzero(as_tuple=True)
    return (bool(x) if x.dtype in _MASKS else int(x),)


def _leaves(items: list[Value]) -> Iterator[Value]:
    for each in items:
        if type(each) is list:
            yield from _leaves(each)
        else:
            yield each
