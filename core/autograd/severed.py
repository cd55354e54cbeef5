"""Which leaves move a result on ways that autograd does not follow: detach, no_grad, item()."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from core.expressions.dispatch import storage_id

Names = frozenset[str]


class Flow:
    """Follows real numbers from leaves to a result, operation by operation, also past autograd.

    Integers and booleans are no way: their slope is 0, as autograd has it.

    Attributes:
        cut: The leaves that the result depends on in a way that was cut.
        is_hooked: Whether a hook of a tensor can change a gradient on its way.
    """

    def __init__(self, leaves: Mapping[str, Tensor]) -> None:
        self.cut: Names = frozenset()
        self.is_hooked = False
        # Storage -> which leaves moved it, and which of them past autograd.
        self._moved = {storage_id(x): (frozenset({name}), Names()) for name, x in leaves.items()}
        self._held = list(leaves.values())  # a freed storage's number would be used again

    def tell(self, func: Any, inputs: Sequence[Tensor], outputs: Sequence[Tensor], _: int) -> None:  # noqa: ANN401
        """Note what an operation hands on, as `Watching` tells it."""
        leaves, cut = Names(), Names()
        for x in filter(torch.is_floating_point, inputs):
            moved, past = self._of(x)
            leaves, cut = leaves | moved, cut | past
            self.is_hooked |= bool(x._backward_hooks)
        if func._schema.name == "aten::_local_scalar_dense":  # item(): a number of Python
            self.cut |= leaves
        for x in filter(torch.is_floating_point, outputs):
            before = self._moved.get(storage_id(x), (Names(), Names()))
            self._moved[storage_id(x)] = (leaves | before[0], cut | before[1])
            self._held.append(x)

    def end(self, result: Tensor) -> None:
        """Note what the result depends on."""
        self.cut |= self._of(result)[1]

    def _of(self, x: Tensor) -> tuple[Names, Names]:
        """Return what moved a tensor; where gradients are not recorded, nothing is cut yet.

        Within a custom function they never are, and its author's backward stands for all of it.
        """
        leaves, cut = self._moved.get(storage_id(x), (Names(), Names()))
        return leaves, cut if x.requires_grad or not torch.is_grad_enabled() else cut | leaves
