"""What the choices of the memory page and their options are called, and what changed in words."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.catalogue.profiles import PROFILES
from core.budget.recipe import LoRA
from core.budget.training.scenario import Scenario
from core.language import N_, _
from pages.shared.plan.choices import CHECKPOINTED, REDUCED_IN
from pages.shared.plan.plan import STEP_KIND_NAMES

CHOICE_NAMES: Final[Mapping[str, str]] = {
    "model": N_("model"),
    "device": N_("device"),
    "num_devices": N_("devices"),
    "zero_stage": N_("ZeRO stage"),
    "tensor": N_("tensor-parallel size"),
    "sequence_parallel": N_("sequence parallelism"),
    "pipeline": N_("pipeline-parallel size"),
    "virtual_stages": N_("virtual stages per device"),
    "expert": N_("expert-parallel size"),
    "context": N_("context-parallel size"),
    "devices_per_node": N_("GPUs per node"),
    "network": N_("network"),
    "overlap": N_("overlap"),
    "batch_size": N_("micro-batch size"),
    "seq_len": N_("sequence length"),
    "precision": N_("precision"),
    "optimizer": N_("optimizer"),
    "step_kind": N_("optimizer implementation"),
    "checkpointing": N_("activation checkpointing"),
    "checkpoint_every": N_("layers per checkpoint segment"),
    "profile": N_("model implementation"),
    "loss_chunks": N_("loss chunks"),
    "lora": "LoRA",
    "reduce_dtype": N_("gradients reduced in"),
}
_SAY_THEMSELVES: Final = {"model", "device", "precision", "optimizer"}
LABELS: Final[Mapping[str, Callable[[str], str]]] = {
    "precision": lambda key: _(PRECISIONS[key].label),
    "optimizer": lambda key: _(OPTIMIZERS[key].label),
    "profile": lambda key: _(PROFILES[key].label),
    "checkpointing": lambda key: _(CHECKPOINTED[key]),
    "step_kind": lambda key: _(STEP_KIND_NAMES[key]),
    "reduce_dtype": lambda key: _(REDUCED_IN[key]),
}
"""Choice -> what an option of it is called."""


def choice_text(name: str, scenario: Scenario) -> str:
    value = scenario.choices[name]
    if name in LABELS:
        return LABELS[name](value)
    if name in {"model", "device"}:
        return str(value.name)
    if isinstance(value, LoRA):
        return f"r{value.rank} {'+'.join(value.targets)} {value.base_format}"
    if value is None or isinstance(value, bool):
        return _("yes") if value else _("no")
    return f"{value:g}" if isinstance(value, float) else str(value)


def that_differ(scenarios: Sequence[Scenario]) -> list[str]:
    """Return the choices that tell scenarios apart; the step's tokens decide the accumulation."""
    found = [{name: each.choices[name] for name in CHOICE_NAMES} for each in scenarios]
    return [name for name in CHOICE_NAMES if any(each[name] != found[0][name] for each in found)]


def short_words(scenario: Scenario, differing: Sequence[str]) -> list[str]:
    """Return a setting in a few words: its model, and the choices in which it differs."""
    return [
        choice_text(name, scenario)
        if name in _SAY_THEMSELVES
        else f"{_(CHOICE_NAMES[name])} {choice_text(name, scenario)}"
        for name in dict.fromkeys(("model", *differing))
    ]
