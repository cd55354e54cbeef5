"""LoRA fine-tuning of our GPT: its weights are frozen, thin adapters beside its matrices learn.

Source: Hu et al. 2021, LoRA. The adapters stand beside all projections of attention and
feed-forward layer; the update counts twice, as alpha = 2 r is the usual choice.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from core.budget import Formula, Item
from core.budget.by_hand.gpt import STATES
from core.budget.item import item
from core.train.config import TrainConfig

if TYPE_CHECKING:
    from torch import Tensor, nn

TARGETS: Final = ("qkv", "out", "up")  # "out" of attention and of the feed-forward layer
SCALE: Final = 2.0
# r (inputs + outputs): qkv C and 3 C, out C and C, up C and 4 C, out 4 C and C.
ADAPTERS: Final = Formula("num_layers * rank * 16 * hidden_dim")
_BASE: Final = ".base."
_ADAPTER: Final = (".lora_a", ".lora_b")


def count_adapters(config: TrainConfig) -> Item:
    """Return how many parameters learn."""
    values = {
        "num_layers": config.num_layers,
        "rank": config.lora_rank,
        "hidden_dim": config.hidden_dim,
    }
    source = "Hu et al. 2021, LoRA, section 4.1: r (inputs + outputs) for each matrix"
    return item("adapters", ADAPTERS, values, unit="count", source=source, kind="exact")


def adapter_bytes(config: TrainConfig, weights: int) -> dict[str, int]:
    """Return what a run with adapters holds of weights, gradients and optimizer states.

    `weights`: bytes of the frozen ones. Empty without adapters.
    """
    if not config.lora_rank:
        return {}
    num_params = int(count_adapters(config).amount)
    num_bytes = 2 if config.precision in ("pure_bf16", "pure_fp16") else 4
    values = {  # two thin matrices beside each of four in a block
        "num_params": num_params, "num_in_matrices": num_params, "value_bytes": num_bytes,
        "num_tensors": 8 * config.num_layers, "num_other_tensors": 0,
    }  # fmt: skip
    trained, states = num_params * num_bytes, STATES[config.optimizer][0].of(values)
    return {"weights": weights + trained, "gradients": trained, "optimizer": int(states)}


def add_adapters(model: "nn.Module", rank: int) -> None:
    """Freeze our GPT and give it adapters; what it answers does not change."""
    from core.models.lora import add_lora

    add_lora(model, TARGETS, rank, SCALE * rank)


def named_for(names: Mapping[str, "Tensor"], parent: Mapping[str, "Tensor"]) -> dict[str, "Tensor"]:
    """Return a parent's weights under the names of a model with adapters; these stay its own."""
    return {
        name: own
        if name not in parent and name.endswith(_ADAPTER)
        else parent[name if name in parent else name.replace(_BASE, ".")]
        for name, own in names.items()
    }


def merged(state: Mapping[str, "Tensor"]) -> dict[str, "Tensor"]:
    """Return the weights of a plain GPT that answers as this one: W + 2 B A where it adapts W."""
    plain = {}
    for name, weight in state.items():
        if _BASE in name:
            layer = name.partition(_BASE)[0]
            update = state[f"{layer}.lora_b"].float() @ state[f"{layer}.lora_a"].float()
            plain[name.replace(_BASE, ".")] = (weight.float() + SCALE * update).to(weight.dtype)
        elif not name.endswith(_ADAPTER):
            plain[name] = weight
    return plain
