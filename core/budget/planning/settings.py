"""A plan as settings: the names and values by which pages, links and recipes speak of one."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from core.budget.catalogue.devices import DEVICES
from core.budget.planning.plan import Plan
from core.budget.recipe import MAX_TOKENS, LoRA
from core.budget.serving.plan import with_context

RECIPE: Final = {
    "length": "seq_len", "batch": "batch_size", "precision": "precision",
    "optimizer": "optimizer", "kind": "step_kind", "checkpointing": "checkpointing",
    "every": "checkpoint_every", "profile": "profile", "chunks": "loss_chunks",
    "reduce": "reduce_dtype",
}  # fmt: skip
CLUSTER: Final = {
    "devices": "num_devices", "sharding": "zero_stage", "tensor": "tensor",
    "sequence": "sequence_parallel", "stages": "pipeline", "virtual": "virtual_stages",
    "context": "context", "expert": "expert", "node": "devices_per_node", "network": "network",
}  # fmt: skip
SERVING: Final = {
    "weights": "weight_format", "kv": "kv_format", "output": "output_len",
    "concurrency": "concurrency",
}  # fmt: skip
WHOLE: Final = {
    "work": "work", "step": "step_tokens", "tokens": "num_tokens", "price": "price_per_hour",
    "mfu": "mfu",
}  # fmt: skip
"""Name of a setting -> its field, of the plan and of its parts."""
RELEASED: Final = "released"  # the weight format in which a model's makers publish it
NOT_ADAPTED: Final = "none"
COMPUTED: Final = "computed"
TARGETS: Final = {
    "qv": ("q", "v"),
    "attention": ("q", "k", "v", "o"),
    "all": ("q", "k", "v", "o", "gate", "up", "down"),
}
"""A setting of LoRA's matrices -> their names."""
_BILLION: Final = 1e9  # tokens; and bytes/s of the network


def settings_of(plan: Plan) -> dict[str, Any]:
    """Return what its settings say of a plan: a device too, if it is one of DEVICES."""
    said = {
        name: getattr(part, field)
        for part, fields in _parts(plan).values()
        for name, field in fields.items()
    }
    said["sharding"] = str(plan.cluster.zero_stage)
    said["tokens"], said["network"] = plan.num_tokens / _BILLION, plan.cluster.network / _BILLION
    said["context_length"] = plan.serving.context
    lora = plan.recipe.lora
    said["lora"] = lora.base_format if lora else NOT_ADAPTED
    if lora:
        named = [name for name, targets in TARGETS.items() if targets == lora.targets]
        said |= {"rank": lora.rank} | ({"targets": named[0]} if named else {})
    known = [key for key, device in DEVICES.items() if device is plan.cluster.device]
    return said | ({"device": known[0]} if known else {})


def with_settings(plan: Plan, settings: Mapping[str, Any]) -> Plan:
    """Return the plan with these settings; "model" and "device" are not heeded.

    A sequence ends where the model's table of positions ends, sequence parallelism needs several
    tensor-parallel ranks, and weights "released" are those of the model's makers.

    Raises:
        ValueError: If a value cannot be, or the devices cannot be split so.
    """
    said = settings_of(plan) | dict(settings)
    said["sharding"], said["mfu"] = int(said["sharding"]), _share(said["mfu"])
    said["sequence"] = bool(said["sequence"]) and said["tensor"] > 1
    said["tokens"], said["network"] = said["tokens"] * _BILLION, said["network"] * _BILLION
    said["length"] = min(said["length"], plan.spec.learned_positions or MAX_TOKENS)
    if said["weights"] == RELEASED:
        said["weights"] = plan.spec.quantized or "bfloat16"
    made = {
        name: replace(part, **{field: said[each] for each, field in fields.items()})
        for name, (part, fields) in _parts(plan).items()
        if name
    }
    made["recipe"] = replace(made["recipe"], lora=_lora(said, plan.recipe.lora))
    made["serving"] = with_context(made["serving"], said["context_length"])
    return replace(plan, **made, **{field: said[name] for name, field in WHOLE.items()})


def _parts(plan: Plan) -> Mapping[str, tuple[Any, Mapping[str, str]]]:
    return {
        "recipe": (plan.recipe, RECIPE),
        "cluster": (plan.cluster, CLUSTER),
        "serving": (plan.serving, SERVING),
        "": (plan, WHOLE),
    }


def _share(word: str | float) -> float:
    return 0.0 if word == COMPUTED else float(word)


def _lora(said: Mapping[str, Any], before: LoRA | None) -> LoRA | None:
    if said["lora"] == NOT_ADAPTED:
        return None
    lora = replace(before or LoRA(), base_format=said["lora"])
    lora = replace(lora, rank=said.get("rank", lora.rank))
    return replace(lora, targets=TARGETS[said["targets"]] if "targets" in said else lora.targets)
