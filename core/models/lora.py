"""Which parameters learn: parts of a model, or low-rank adapters, W + (alpha / r) B A.

Hu et al. 2021, "LoRA": a frozen matrix W and two thin ones beside it. B starts as zeros, so that at
first nothing changes, bit for bit. Shape letters: r rank, I inputs, O outputs.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from core.language import _
from core.language.listing import followed_by
from core.models.chosen import Source, tree_of
from core.models.describe import ModelTree, Part, describe


class LoRALinear(nn.Module):
    """A linear layer that is frozen, and its adapter.

    Args:
        base: The layer; its weights take no gradient from here on.
        rank: r of A (r, I) and B (O, r).
        alpha: The adapter counts alpha / r times.

    Raises:
        ValueError: If the rank is no rank of this matrix.
    """

    def __init__(self, base: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        most = min(base.in_features, base.out_features)
        if not 1 <= rank <= most:
            raise ValueError(
                _(
                    "The rank is {rank}; for a matrix of {outputs} × {inputs} it must lie between "
                    "1 and {most}."
                ).format(rank=rank, outputs=base.out_features, inputs=base.in_features, most=most)
            )
        self.base, self.scale = base.requires_grad_(requires_grad=False), alpha / rank
        self.lora_a = nn.Parameter(base.weight.new_empty(rank, base.in_features))
        self.lora_b = nn.Parameter(base.weight.new_zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.lora_a, a=math.sqrt(5))  # as nn.Linear draws its weight

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's output and the adapter's; (..., I) to (..., O)."""
        result: Tensor = self.base(x) + (x @ self.lora_a.T @ self.lora_b.T) * self.scale
        return result


def add_lora(
    module: nn.Module, target_names: Sequence[str], rank: int = 8, alpha: float = 16.0
) -> int:
    """Freeze a module, give its linear layers of these names adapters, return how many got one.

    Args:
        module: Changed in place.
        target_names: Last part of a layer's name: "q" of "blocks.0.attention.q".
        rank: Of every adapter.
        alpha: Of every adapter.

    Raises:
        ValueError: If a name is no linear layer's; the sentence lists the names that exist.
    """
    found = _linear_layers(module)
    names = sorted({name for _parent, name in found})
    wrong = [name for name in target_names if name not in names]
    if wrong or not target_names:
        raise ValueError(_refusal(module, wrong, names))
    module.requires_grad_(requires_grad=False)
    chosen = [(parent, name) for parent, name in found if name in target_names]
    for parent, name in chosen:
        setattr(parent, name, LoRALinear(getattr(parent, name), rank, alpha))
    return len(chosen)


def _linear_layers(module: nn.Module) -> list[tuple[nn.Module, str]]:
    """Return every linear layer that is called as a module, as the module above and its name.

    The output projection of `nn.MultiheadAttention` never is: torch reads its weight directly.
    """
    return [
        (parent, name)
        for parent in module.modules()
        if not isinstance(parent, nn.MultiheadAttention | LoRALinear)
        for name, child in parent.named_children()
        if isinstance(child, nn.Linear)
    ]


def _refusal(module: nn.Module, wrong: Sequence[str], names: Sequence[str]) -> str:
    said = _("No linear layer is called {wrong}; the names here are: {names}.").format(
        wrong=_(", ").join(wrong) or "''", names=_(", ").join(names) or "–"
    )
    if any(isinstance(each, nn.MultiheadAttention) for each in module.modules()):
        packed = _(
            "nn.MultiheadAttention keeps queries, keys and values in one packed parameter, "
            "in_proj_weight, which is no linear layer."
        )
        return followed_by(said, packed)
    return said


@dataclass(frozen=True, kw_only=True, slots=True)
class Trained:
    """A model of which a part learns, with its adapters, if it has some."""

    tree: ModelTree
    num_adapted: int = 0  # linear layers with an adapter, over all layers of the model


def usual_targets(tree: ModelTree) -> tuple[str, ...]:
    """Return the names of the linear layers of attention; of a model without any, of all."""
    linear = [(node.name, node.part) for _path, node in tree.walk() if node.type == "Linear"]
    inside = [name for name, part in linear if part == "attention"]
    return tuple(dict.fromkeys(inside or [name for name, part in linear if part == "feed_forward"]))


def freeze_all_but(module: nn.Module, parts: Collection[Part]) -> int:
    """Let only these parts of a module learn, and return how many parameters those are."""
    part_of = {path: leaf.part for path, leaf in describe(module).leaves()}
    for name, parameter in module.named_parameters():
        parameter.requires_grad_(part_of[name] in parts)
    return sum(each.numel() for each in module.parameters() if each.requires_grad)


def train_parts(source: Source, parts: Collection[Part]) -> Trained:
    """Return a model of which only these parts learn."""
    return Trained(tree=tree_of(source, lambda module: freeze_all_but(module, parts)))


def train_adapters(source: Source, target_names: Sequence[str], rank: int) -> Trained:
    """Return a frozen model with LoRA adapters on its linear layers of these names.

    Raises:
        ValueError: If a name is no linear layer's, or the rank is no rank of one.
    """
    tree = tree_of(source, lambda module: add_lora(module, target_names, rank))
    adapted = sum(node.count for _path, node in tree.walk() if node.type == "LoRALinear")
    return Trained(tree=tree, num_adapted=adapted)
