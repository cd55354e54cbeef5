"""Which parameters learn: parts of a model frozen or not, adapters, and what that costs."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from torch import nn

from core.models.chosen import Source, tree_of
from core.models.describe import ModelTree, Part, describe
from core.models.lora import add_lora


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
