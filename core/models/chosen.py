"""Any model that can be looked at, by what describes it: its tree, and FLOPs of its modules.

Blocks of a kind are equal, so one of them on meta says what all of them are: 70B in milliseconds.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

import torch
from torch import nn

from core.models.build import build_model
from core.models.describe import ModelTree, at_numbers, describe, with_children
from core.models.first_values import FirstValues
from core.models.gpt import GPT
from core.models.module_flops import TOKENS, count_flops
from core.models.small import SMALL, make
from core.models.spec import GPTShape, ModelSpec

Source = GPTShape | ModelSpec | str  # our GPT, an architecture, or the key of a small module
FFN_RATIOS: Final[Mapping[str, Fraction]] = {
    "8/3": Fraction(8, 3),  # Llama-2: three matrices of 8/3 weigh as much as two of 4
    "3.5": Fraction(7, 2),  # Llama-3 8B and 70B
    "4": Fraction(4),
}
_FFN_MULTIPLE: Final = 256
Change = Callable[[nn.Module], object]  # of a module before it is read


def llama_like(
    *,
    num_layers: int,
    hidden_dim: int,
    num_heads: int,
    num_kv_heads: int,
    vocab_size: int,
    ffn_ratio: Fraction = FFN_RATIOS["8/3"],
) -> ModelSpec:
    """Return a Llama of these sizes, its SwiGLU so many times as wide, rounded up to 256."""
    ffn_dim = math.ceil(hidden_dim * ffn_ratio / _FFN_MULTIPLE) * _FFN_MULTIPLE
    return ModelSpec(
        name="Llama",
        num_layers=num_layers,
        hidden_dim=hidden_dim,
        num_heads=num_heads,
        num_kv_heads=num_kv_heads,
        head_dim=hidden_dim // num_heads,
        ffn_dim=ffn_dim,
        vocab_size=vocab_size,
        seq_len=4096,
    )


def tree_of(source: Source, change: Change = lambda _module: None) -> ModelTree:
    """Return the folded tree; large models are built on meta, one block of each kind."""
    if isinstance(source, GPTShape):
        return describe_gpt(source, change)
    if isinstance(source, ModelSpec):
        return describe_spec(source, change)
    module = make(source)
    change(module)
    return describe(module)


def flops_of(source: Source) -> Mapping[str, int]:
    """Return FLOPs by module of a forward pass: of `TOKENS` tokens, or of a small module's input.

    Each folded block is counted once.
    """
    if isinstance(source, str):
        return count_flops(make(source), torch.zeros(SMALL[source].input_shape))
    return count_flops(_one_block(source), torch.zeros(1, TOKENS, dtype=torch.long, device="meta"))


def _one_block(source: GPTShape | ModelSpec) -> nn.Module:
    """Return a language model on meta with one block of each kind, long enough to be counted."""
    if isinstance(source, ModelSpec):
        return one_of_each(source)
    with torch.device("meta"):
        return GPT(replace(source, num_layers=1, seq_len=max(source.seq_len, TOKENS)))


def describe_spec(spec: ModelSpec, change: Change = lambda _module: None) -> ModelTree:
    """Return the folded tree of a model of the catalogue; on meta, nothing is allocated."""
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
