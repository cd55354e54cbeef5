"""The plan of a training as the reader says it: the settings `plan_model`, `plan_devices`, ..."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.cluster import Cluster
from core.budget.planning.changes import Change
from core.budget.planning.plan import MOST_DEVICES, STEP_TOKENS, Plan
from core.budget.recipe import MAX_TOKENS, Checkpointing, LoRA, TrainingRecipe
from core.language import N_, _
from core.units import format_percent
from pages.shared.inputs import Inputs
from pages.shared.plan.choices import (
    CHECKPOINTED,
    CONTEXT,
    STAGES,
    TRAINED_LENGTHS,
    choose_device,
    choose_model,
    note_long_context,
    stops,
)
from pages.shared.sides import box, boxes

ASK: Final = Inputs("plan")
SHARDING: Final = {
    "0": N_("nothing (DDP)"),
    "1": N_("ZeRO-1: optimizer"),
    "2": N_("ZeRO-2: optimizer, gradients"),
    "3": N_("ZeRO-3, FSDP2: all"),
}
ADAPTERS: Final = {
    "none": N_("none: every weight is trained"),
    "bfloat16": N_("on bf16 weights"),
    "nf4_double_quant": N_("on NF4 weights (QLoRA)"),
}
COMPUTED: Final = "computed"
_PINNED: Final = ("0.2", "0.25", "0.3", "0.35", "0.4", "0.45", "0.5", "0.55", "0.6")
_LARGEST_BATCH: Final = 4096  # sequences
_BILLION: Final = 1e9


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """The plan of the reader.

    Attributes:
        plan: What is to be done.
        model: Python that makes the same model, for snippets.
        device: Python that makes the same device.
    """

    plan: Plan
    model: str
    device: str


def choose_plan() -> Chosen:
    """Show five inputs and, on demand, the others; return the plan.

    Raises:
        ValueError: If the devices cannot be split so; the sentence says why.
    """
    asked = ASK.select_slider(
        "length", _("Sequence length"), TRAINED_LENGTHS, default=8192, labels="{:,}".format
    )
    model = choose_model(ASK, default="llama-3.1-8b")
    device = choose_device(ASK, default="h100-sxm")
    count = ASK.number("devices", _("Devices"), 1, MOST_DEVICES, default=8, step=1)
    billions = ASK.number(
        "tokens", _("Tokens in all, in billions"), 0.001, 1e6, default=1.0, step=1.0
    )
    name, icon = _("Settings"), ":material/tune:"
    with box(st.popover, name, icon=icon, key="plan_settings", width="stretch"):
        training, spread, price = boxes([_("Training"), _("Devices"), _("Time and cost")])
        with training:
            recipe = _choose_recipe(min(asked, model.spec.learned_positions or asked))
        with spread:
            cluster = _choose_cluster(Cluster(device=device.device), count)
        with price:
            usd = ASK.number("price", _("USD per device-hour"), 0.0, 1e3, default=2.0, step=0.1)
            mfu = ASK.select_slider(
                "mfu", _("MFU"), (COMPUTED, *_PINNED), default=COMPUTED, labels=_mfu_label
            )
            step_tokens = ASK.number(
                "step", _("Tokens of an optimizer step, over all devices"), 1, MAX_TOKENS,
                default=STEP_TOKENS, step=8192,
            )  # fmt: skip
    note_long_context(model.spec, recipe.seq_len)
    plan = Plan(
        spec=model.spec, cluster=cluster, recipe=recipe, step_tokens=step_tokens,
        num_tokens=billions * _BILLION, price_per_hour=usd,
        mfu=0.0 if mfu == COMPUTED else float(mfu),
    )  # fmt: skip
    return Chosen(plan=plan, model=model.code, device=device.code)


def _mfu_label(word: str) -> str:
    return _("computed") if word == COMPUTED else format_percent(float(word))


def _choose_recipe(seq_len: int) -> TrainingRecipe:
    kinds: tuple[Checkpointing, ...] = ("none", "selective", "full")
    checkpointing: Checkpointing = ASK.selectbox(
        "checkpointing", _("Activation checkpointing"), kinds,
        default="full", labels=partial(_called, CHECKPOINTED),
    )  # fmt: skip
    precision = ASK.selectbox(
        "precision", _("Precision"), tuple(PRECISIONS), default="mixed_bf16",
        labels=lambda key: _("{count} B · {name}").format(
            name=_(PRECISIONS[key].label), count=PRECISIONS[key].with_adam
        ),
    )  # fmt: skip
    optimizer = ASK.selectbox(
        "optimizer", _("Optimizer"), tuple(OPTIMIZERS), default="adamw",
        labels=lambda key: _(OPTIMIZERS[key].label),
    )  # fmt: skip
    batch = ASK.number("batch", _("Micro-batch size"), 1, _LARGEST_BATCH, default=1, step=1)
    chunks = ASK.select_slider("chunks", _("Loss chunks"), stops(1, 128), default=1)
    base = ASK.selectbox(
        "lora", "LoRA", tuple(ADAPTERS), default="none", labels=partial(_called, ADAPTERS)
    )
    return TrainingRecipe(
        batch_size=batch, seq_len=seq_len, precision=precision, optimizer=optimizer,
        step_kind="fused", checkpointing=checkpointing, loss_chunks=chunks,
        lora=None if base == "none" else LoRA(base_format=base),
    )  # fmt: skip


def _called(names: Mapping[str, str], key: str) -> str:
    return _(names[key])


def _choose_cluster(one: Cluster, count: int) -> Cluster:
    sharding = ASK.selectbox(
        "sharding", _("Sharded over the data-parallel ranks"), tuple(SHARDING), default="3",
        labels=partial(_called, SHARDING),
    )  # fmt: skip
    tensor = ASK.select_slider("tensor", _("Tensor-parallel size (TP)"), (1, 2, 4, 8), default=1)
    stages = ASK.select_slider("stages", _("Pipeline-parallel size (PP)"), STAGES, default=1)
    context = ASK.select_slider("context", _("Context-parallel size (CP)"), CONTEXT, default=1)
    return Cluster(
        device=one.device, num_devices=count, zero_stage=int(sharding), tensor=tensor,
        pipeline=stages, context=context, sequence_parallel=max(tensor, context) > 1,
    )  # fmt: skip


def settings_of(plan: Plan) -> dict[str, int | str]:
    """Return what the inputs say of a plan, as far as a change may alter it; a known device too."""
    recipe, cluster = plan.recipe, plan.cluster
    known = [key for key, device in DEVICES.items() if device is cluster.device]
    said: dict[str, int | str] = {
        "devices": cluster.num_devices,
        "sharding": str(cluster.zero_stage),
        "tensor": cluster.tensor,
        "context": cluster.context,
        "batch": recipe.batch_size,
        "length": recipe.seq_len,
        "chunks": recipe.loss_chunks,
        "checkpointing": recipe.checkpointing,
        "optimizer": recipe.optimizer,
        "precision": recipe.precision,
        "lora": recipe.lora.base_format if recipe.lora else "none",
    }
    return said | ({"device": known[0]} if known else {})


def take_over(before: Plan, change: Change) -> None:
    """Set the inputs to a changed plan; a locked page stays as it is."""
    old = settings_of(before)
    for name, value in settings_of(change.plan).items():
        if value != old.get(name):
            ASK.set(name, value)


def change_words(change: Change) -> str:
    """Return a change in words: "Precision: pure bf16"."""
    value = str(change.value)
    said = {
        "zero_stage": lambda: _(SHARDING[value]),
        "batch_size": lambda: _("Micro-batch size {count}").format(count=value),
        "loss_chunks": lambda: _("{count} loss chunks").format(count=value),
        "checkpointing": lambda: _("Checkpointing: {kind}").format(kind=_(CHECKPOINTED[value])),
        "tensor": lambda: _("{count} tensor-parallel ranks").format(count=value),
        "context": lambda: _("{count} context-parallel ranks").format(count=value),
        "optimizer": lambda: _(OPTIMIZERS[value].label),
        "precision": lambda: _(PRECISIONS[value].label),
        "lora": lambda: _("LoRA {base}").format(base=_(ADAPTERS[value])),
        "seq_len": lambda: _("{tokens} tokens a sequence").format(tokens=f"{change.value:,}"),
        "num_devices": lambda: _("{count} devices").format(count=f"{change.value:,}"),
        "device": lambda: DEVICES[value].name,
    }
    return said[change.name]()
