"""What is trained, how and on what: the choices of the memory page, and their code."""

from dataclasses import dataclass, fields, replace
from typing import Final

import streamlit as st

from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.catalogue.profiles import PROFILES
from core.budget.cluster import Cluster, DeviceSpec
from core.budget.recipe import CHECKPOINTING, STEP_KINDS, LoRA, TrainingRecipe
from core.budget.training.scenario import Scenario
from core.language import N_, _
from core.models.spec import ModelSpec
from pages.plan.training_memory.words import LABELS
from pages.shared.inputs import Inputs
from pages.shared.plan.choices import (
    ACCUMULATED,
    DATA,
    MOST_TRAINED,
    TRAINED_LENGTHS,
    choose_device,
    choose_model,
    choose_split,
    note_long_context,
    stops,
)
from pages.shared.sides import box, boxes
from pages.shared.tabbed_page import Shown

ASK: Final = Inputs("memory", of_picture=("item", "measured"))
PIECES: Final = stops(1, 128)
RANKS: Final = stops(1, 256)
BASES: Final = ("bfloat16", "int8_channel", "nf4", "nf4_double_quant", "mxfp4", "nvfp4")
TARGETS: Final = {
    "qv": (N_("queries and values"), ("q", "v")),
    "attention": (N_("attention"), ("q", "k", "v", "o")),
    "all": (N_("every matrix"), ("q", "k", "v", "o", "gate", "up", "down")),
}
"""Matrices with adapters: what they are called together, and their names."""
SHARDING: Final = {
    "0": N_("nothing (DDP)"),
    "1": N_("ZeRO-1: optimizer"),
    "2": N_("ZeRO-2: optimizer, gradients"),
    "3": N_("ZeRO-3, FSDP2: all"),
}
_CODE: Final = """
from core.budget.budget import at_peak
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster, DeviceSpec
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.memory import training_budget
from core.machine import probe_machine

recipe = TrainingRecipe({recipe})
cluster = Cluster(device={device}{layout})
budget = training_budget({model}, recipe, cluster)
for part in at_peak(budget.largest):
    print(f"{{part.name:24}}{{part.amount / 2**30:9.2f}} GiB   {{part.formula}}")
print(f"{{budget.item.amount / 2**30:.2f}} of {{budget.capacity / 2**30:.2f}} GiB")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """All choices of the page.

    Attributes:
        scenario: Model, recipe and cluster.
        model: Python that makes the same model, for the snippet.
        device: Python that makes the same device.
    """

    scenario: Scenario
    model: str
    device: str


def choose_case() -> Case:
    """Show all inputs: what is dragged first, then the model and the device, the rest on demand."""
    with box(st.container, key="memory_sliders", gap="small"):
        batch = ASK.slider("batch", _("Micro-batch size"), 1, MOST_TRAINED, default=1, step=1)
        asked = ASK.select_slider(
            "seq", _("Sequence length"), TRAINED_LENGTHS, default=4096, labels="{:,}".format
        )
    model, device = choose_model(ASK), choose_device(ASK)
    name, icon = _("Settings"), ":material/tune:"
    with box(st.popover, name, icon=icon, key="memory_settings", width="stretch"):
        training, adapters, devices = boxes([_("Training"), "LoRA", _("Devices")])
        with training:
            recipe = _choose_recipe()
        with adapters:
            lora = _choose_lora()
        with devices:
            cluster = _choose_cluster(model.spec, device.device)
    length = min(asked, model.spec.learned_positions or asked)
    recipe = replace(recipe, batch_size=batch, seq_len=length, lora=lora)
    if ASK.used("tab") != "allocator":
        _note_length(model.spec, asked)
    scenario = Scenario(spec=model.spec, recipe=recipe, cluster=cluster)
    return Case(scenario=scenario, model=model.code, device=device.code)


def _note_length(spec: ModelSpec, asked: int) -> None:
    """Say so if sequences are longer than the model can read, or than it was made for."""
    longest = spec.learned_positions or asked
    if asked > longest:
        st.caption(
            _("{model} has a table of {count} positions: {count} tokens are taken.").format(
                model=spec.name, count=f"{longest:,}"
            )
        )
    note_long_context(spec, min(asked, longest))


def _choose_recipe() -> TrainingRecipe:
    """Return how it is trained, sizes and adapters apart; what decides most comes first."""
    return TrainingRecipe(
        checkpointing=ASK.selectbox(
            "checkpointing",
            _("Activation checkpointing"),
            CHECKPOINTING,
            default="none",
            labels=LABELS["checkpointing"],
        ),
        precision=ASK.selectbox(
            "precision",
            _("Precision"),
            tuple(PRECISIONS),
            default="mixed_bf16",
            labels=_precision_label,
        ),
        optimizer=ASK.selectbox(
            "optimizer",
            _("Optimizer"),
            tuple(OPTIMIZERS),
            default="adamw",
            labels=LABELS["optimizer"],
        ),
        step_kind=ASK.segmented(
            "step",
            _("Optimizer implementation"),
            STEP_KINDS,
            default="fused",
            labels=LABELS["step_kind"],
        ),
        profile=ASK.selectbox(
            "profile",
            _("Model implementation"),
            tuple(PROFILES),
            default="fused",
            labels=LABELS["profile"],
        ),
        accumulation=ASK.select_slider(
            "accumulation", _("Gradient accumulation"), ACCUMULATED, default=8
        ),
        checkpoint_every=ASK.slider(
            "every", _("Layers per checkpoint segment"), 1, 32, default=4, step=1
        ),
        loss_chunks=ASK.select_slider("chunks", _("Loss chunks"), PIECES, default=1),
    )


def _precision_label(key: str) -> str:
    return _("{count} B · {name}").format(
        name=LABELS["precision"](key), count=PRECISIONS[key].with_adam
    )


def _choose_lora() -> LoRA | None:
    """Return the adapters on frozen weights; None trains every weight."""
    wanted = ASK.toggle("lora", _("Train adapters only"), default=False)
    rank = ASK.select_slider("rank", _("Rank"), RANKS, default=8, disabled=not wanted)
    targets = ASK.segmented(
        "targets",
        _("Matrices"),
        tuple(TARGETS),
        default="qv",
        labels=lambda key: _(TARGETS[key][0]),
        disabled=not wanted,
    )
    base = ASK.selectbox(
        "base", _("Frozen weights (QLoRA: nf4)"), BASES, default="bfloat16", disabled=not wanted
    )
    return LoRA(rank=rank, targets=TARGETS[targets][1], base_format=base) if wanted else None


def _choose_cluster(spec: ModelSpec, device: DeviceSpec) -> Cluster:
    """Return how many devices there are, and how the model is spread over them."""
    data = ASK.select_slider(
        "replicas", _("Data-parallel size (DP)"), DATA, default=1, labels="{:,}".format
    )
    zero = ASK.selectbox(
        "zero",
        _("Sharded over the data-parallel ranks"),
        tuple(SHARDING),
        default="0",
        labels=lambda key: _(SHARDING[key]),
    )
    cluster = Cluster(device=device, num_devices=data, zero_stage=int(zero))
    cluster = choose_split(ASK, spec, cluster, "tensor")
    sequence = ASK.toggle("sequence", _("Sequence parallelism"), default=False)
    cluster = choose_split(ASK, spec, cluster, "pipeline")
    cluster = choose_split(ASK, spec, cluster, "expert")
    return replace(cluster, sequence_parallel=sequence)


def refusal(problem: ValueError) -> Shown:
    st.error(str(problem))
    return Shown(headline=_("This setting cannot be trained."))


def write_code(case: Case) -> str:
    scenario = case.scenario
    layout = _changed(scenario.cluster, Cluster(device=scenario.cluster.device))
    return _CODE.format(
        model=case.model,
        device=case.device,
        recipe=_changed(scenario.recipe, TrainingRecipe()),
        layout=f", {layout}" if layout else "",
    )


def _changed(value: TrainingRecipe | Cluster, plain: TrainingRecipe | Cluster) -> str:
    pairs = [
        f"{field.name}={getattr(value, field.name)!r}"
        for field in fields(value)
        if field.name != "device" and getattr(value, field.name) != getattr(plain, field.name)
    ]
    return ", ".join(pairs)
