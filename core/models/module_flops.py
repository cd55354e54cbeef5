"""FLOPs of each module in one forward pass, as torch counts them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from core.models.build import Decoder
from core.models.describe import ModelTree
from core.models.gpt import GPT

TOKENS: Final = 128  # of one sequence; every expert of the catalogue gets a whole number of them


@dataclass(frozen=True, kw_only=True, slots=True)
class ModuleRow:
    """A module that has parameters or products of its own, those below it left out."""

    path: str  # its full name in the tree
    node: ModelTree
    num_params: int
    flops: int  # of all such modules together


def count_flops(module: nn.Module, x: Tensor) -> Mapping[str, int]:
    """Return the FLOPs of each module by its full name, "" for the whole; products alone count.

    Args:
        module: On meta nothing is computed.
        x: Token ids for a language model, else its input.
    """
    # Without gradients torch's encoder layer takes one fused kernel, in which nothing is counted.
    with FlopCounterMode(display=False) as counter, torch.enable_grad():
        inputs = (x, x) if isinstance(module, GPT | Decoder) else (x,)
        module.eval()(*inputs)
    root = type(module).__name__
    return {
        name.removeprefix(root).removeprefix("."): sum(operations.values())
        for name, operations in counter.get_flop_counts().items()
        if name != "Global"
    }


def module_rows(tree: ModelTree, flops: Mapping[str, int]) -> tuple[ModuleRow, ...]:
    """Return the modules with parameters or products of their own, as a forward pass meets them.

    Args:
        tree: Folded or not.
        flops: Of a model in which each folded block stands once.
    """
    return tuple(_rows(tree, "", "", flops))


def _rows(node: ModelTree, path: str, real: str, flops: Mapping[str, int]) -> Iterator[ModuleRow]:
    below = [each for each in node.children if not each.is_leaf]
    is_folded = any(each.numbers for each in below)  # then each kind of block was counted once
    names = [_join(real, str(i) if is_folded else each.name) for i, each in enumerate(below)]
    own = flops.get(real, 0) - sum(flops.get(name, 0) for name in names)
    leaves = [each for each in node.children if each.is_leaf]
    if leaves or (own > 0 and path):  # of the whole model, what is left is the loss and its list
        yield ModuleRow(
            path=path,
            node=node,
            num_params=sum(each.num_params for each in leaves),
            flops=max(own, 0) * node.count,
        )
    for child, name in zip(below, names, strict=True):
        yield from _rows(child, _join(path, child.name), name, flops)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
