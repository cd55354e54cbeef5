"""The tree of a whole language model out of one block of each kind: 70B in milliseconds.

Blocks of a kind are equal, so one of them on meta says what all of them are.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import nn

from core.models.build import build_model
from core.models.describe import ModelTree, at_numbers, describe, with_children
from core.models.first_values import FirstValues
from core.models.gpt import GPT
from core.models.spec import GPTShape, ModelSpec

Change = Callable[[nn.Module], object]


def describe_spec(spec: ModelSpec, change: Change = lambda _module: None) -> ModelTree:
    """Return the folded tree of a model of the catalogue; on meta, nothing is allocated.

    Args:
        spec: The architecture.
        change: Called with the module before it is read: adapters, `requires_grad`.
    """
    with FirstValues() as drawn:
        module = one_of_each(spec)
        change(module)
    return _repeated(describe(module, drawn), block_numbers(spec))


def describe_gpt(shape: GPTShape, change: Change = lambda _module: None) -> ModelTree:
    """Return the folded tree of the GPT that the live run trains; on meta, as above."""
    with FirstValues() as drawn, torch.device("meta"):
        module = GPT(replace(shape, num_layers=1))
        module.shape = shape  # the residual projections are drawn smaller in a deep model
        module.initialise()
        change(module)
    return _repeated(describe(module, drawn), [range(shape.num_layers)])


def one_of_each(spec: ModelSpec) -> nn.Module:
    """Return the model on meta with one block of each kind that it has."""
    mixture = spec.mixture
    if mixture is not None:
        mixture = replace(mixture, num_dense_layers=min(mixture.num_dense_layers, 1))
    kinds = len(block_numbers(spec))
    few = replace(spec, num_layers=kinds, mixture=mixture, window=None, num_windowed_layers=0)
    return build_model(few)


def block_numbers(spec: ModelSpec) -> list[list[int]]:
    """Return the places of the blocks of each kind: dense ones, then those with experts."""
    before = [spec.expert_layers_before(index) for index in range(spec.num_layers + 1)]
    kinds = [
        [index for index in range(spec.num_layers) if before[index + 1] - before[index] == experts]
        for experts in (0, 1)
    ]
    return [numbers for numbers in kinds if numbers]


def _repeated(tree: ModelTree, numbers: Sequence[Sequence[int]]) -> ModelTree:
    """Return the tree with each block of its list as often as it stands in the model."""
    (blocks,) = (child for child in tree.children if child.name == "blocks")
    many = [at_numbers(*each) for each in zip(blocks.children, numbers, strict=True)]
    whole = with_children(blocks, many)
    return with_children(tree, [whole if each is blocks else each for each in tree.children])
