"""What a file or a text says of a plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from core.budget.item import Item
from core.language import N_

Setting = int | str | bool
KINDS: Final[Mapping[str, str]] = {
    "config": N_("a config.json of Hugging Face"),
    "safetensors": N_("the header of a safetensors file"),
    "index": N_("the index of a checkpoint in several files"),
    "gguf": N_("the header of a GGUF file"),
    "state_dict": N_("the printed shapes of a state_dict"),
    "training_arguments": N_("arguments of the Hugging Face Trainer"),
    "deepspeed": N_("a DeepSpeed configuration"),
    "accelerate": N_("an Accelerate configuration"),
    "axolotl": N_("an axolotl recipe"),
    "llama_factory": N_("a LLaMA-Factory recipe"),
    "torchtitan": N_("a torchtitan configuration"),
    "torchtune": N_("a torchtune recipe"),
    "megatron": N_("arguments of Megatron-LM"),
    "vllm": N_("a command of vLLM"),
    "sglang": N_("a command of SGLang"),
}
"""Kind -> its name, as a message id."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Brought:
    """What a file or text says of a plan.

    Attributes:
        kind: A key of KINDS.
        model: A key of `core.budget.catalogue.models.MODELS`; "" if it names none that is known.
        config: The text of a config.json, where the model is none of MODELS but described.
        named: The model's name as the file has it.
        settings: Settings of the plan by the names of its inputs; only what the file says.
        ignored: Every field that was not understood, by its dotted name.
        notes: Sentences about what the plan cannot hold, and what was taken for granted.
        beyond: The fields that the plan cannot hold, with their values.
        items: What was counted from a header: parameters and bytes.
    """

    kind: str
    model: str = ""
    config: str = ""
    named: str = ""
    settings: Mapping[str, Setting] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
