"""What is trained, how and on what: the choices of the memory page, and their code."""

from dataclasses import dataclass, fields, replace
from typing import Final

import streamlit as st

from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.catalogue.profiles import PROFILES
from core.budget.cluster import Cluster
from core.budget.recipe import CHECKPOINTING, STEP_KINDS, LoRA, TrainingRecipe
from core.budget.training.scenario import Scenario
from core.language import N_, _
from core.models.spec import ModelSpec
from pages.budget.training_memory.words import LABELS
from pages.shared.budget.choices import (
    EXPERTS,
    MOST_TRAINED,
    REPLICAS,
    STAGES,
    TENSOR,
    TRAINED_LENGTHS,
    ChosenDevice,
    choose_device,
    choose_model,
    note_long_context,
)
from pages.shared.inputs import Inputs
from pages.shared.tabbed_page import Shown

ASK: Final = Inputs("memory")
SEVERAL: Final = tuple(2**power for power in range(11))
PIECES: Final = tuple(2**power for power in range(8))
RANKS: Final = tuple(2**power for power in range(9))
BASES: Final = ("bfloat16", "int8_channel", "nf4", "nf4_double_quant", "mxfp4", "nvfp4")
TARGETS: Final = {
    "qv": (N_("queries and values"), ("q", "v")),
    "attention": (N_("attention"), ("q", "k", "v", "o")),
    "all": (N_("every matrix"), ("q", "k", "v", "o", "gate", "up", "down")),
}
"""Matrices with adapters: what they are called together, and their names."""
SHARDING: Final = {
    "0": N_("nothing (DDP)"),
    "1": N_("optimizer (ZeRO-1)"),
    "2": N_("and gradients (ZeRO-2)"),
    "3": N_("and weights (ZeRO-3, FSDP2)"),
}
_OWN_SETTING: Final = ("ladder", "allocator", "tiny")  # tabs that the choices do not concern
_CODE: Final = """
from core.budget.budget import at_peak
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
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
    """Show all inputs; a layout that cannot be is told, and one device stands in for it."""
    with st.container(key="memory_inputs", horizontal=True, vertical_alignment="bottom"):
        model, device = choose_model(ASK), choose_device(ASK)
        recipe = _choose_recipe()
    with st.container(key="memory_sliders", horizontal=True, vertical_alignment="bottom"):
        batch, length = _choose_sizes(model.spec)
        recipe = _choose_more(replace(recipe, batch_size=batch, seq_len=length))
        recipe = replace(recipe, lora=_choose_lora())
        cluster = _choose_cluster(device)
    if ASK.used("tab") not in _OWN_SETTING:
        note_long_context(model.spec, length)
    scenario = Scenario(spec=model.spec, recipe=recipe, cluster=cluster)
    return Case(scenario=scenario, model=model.code, device=device.code)


def _choose_recipe() -> TrainingRecipe:
    """Return the three choices that decide most."""
    precision = ASK.selectbox(
        "precision",
        _("Number formats"),
        tuple(PRECISIONS),
        default="mixed_bf16",
        labels=lambda key: _("{count} B · {name}").format(
            name=LABELS["precision"](key), count=PRECISIONS[key].with_adam
        ),
    )
    optimizer = ASK.selectbox(
        "optimizer", _("Optimizer"), tuple(OPTIMIZERS), default="adamw", labels=LABELS["optimizer"]
    )
    checkpointing = ASK.selectbox(
        "checkpointing",
        _("Computed again"),
        CHECKPOINTING,
        default="none",
        labels=LABELS["checkpointing"],
    )
    return TrainingRecipe(precision=precision, optimizer=optimizer, checkpointing=checkpointing)


def _choose_sizes(spec: ModelSpec) -> tuple[int, int]:
    """Return sequences and their tokens; a model with a position table cannot read longer ones."""
    batch = ASK.slider("batch", _("Micro-batch size"), 1, MOST_TRAINED, default=1, step=1)
    length = ASK.select_slider(
        "seq", _("Tokens of a sequence"), TRAINED_LENGTHS, default=4096, labels="{:,}".format
    )
    longest = spec.learned_positions or length
    if length > longest:
        st.caption(
            _("{model} has a table of {count} positions: {count} tokens are taken.").format(
                model=spec.name, count=f"{longest:,}"
            )
        )
    return batch, min(length, longest)


def _choose_more(recipe: TrainingRecipe) -> TrainingRecipe:
    """Return the recipe with the choices that a first look needs no knowledge of."""
    with st.popover(_("Settings"), icon=":material/tune:", key="memory_settings", width="content"):
        return replace(
            recipe,
            step_kind=ASK.segmented(
                "step",
                _("The optimizer's step"),
                STEP_KINDS,
                default="fused",
                labels=LABELS["step_kind"],
            ),
            profile=ASK.selectbox(
                "profile",
                _("Code that runs"),
                tuple(PROFILES),
                default="fused",
                labels=LABELS["profile"],
            ),
            accumulation=ASK.select_slider(
                "accumulation", _("Micro-batches of a step"), SEVERAL, default=8
            ),
            checkpoint_every=ASK.slider(
                "every", _("Layers of a checkpointed run"), 1, 32, default=4, step=1
            ),
            loss_chunks=ASK.select_slider("chunks", _("Pieces of the loss"), PIECES, default=1),
        )


def _choose_lora() -> LoRA | None:
    """Return the adapters on frozen weights; None trains every weight."""
    with st.popover("LoRA", icon=":material/compress:", key="memory_lora_open", width="content"):
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


def _choose_cluster(device: ChosenDevice) -> Cluster:
    """Return how many devices there are, and how the model is spread over them."""
    with st.popover(
        _("Devices"), icon=":material/dns:", key="memory_devices_open", width="content"
    ):
        data = ASK.select_slider(
            "replicas", _("Replicas (data)"), REPLICAS, default=1, labels="{:,}".format
        )
        zero = ASK.selectbox(
            "zero",
            _("Shared out over the replicas"),
            tuple(SHARDING),
            default="0",
            labels=lambda key: _(SHARDING[key]),
        )
        tensor = ASK.select_slider("tensor", _("Tensor ranks"), TENSOR, default=1)
        sequence = ASK.toggle("sequence", _("Sequence parallelism"), default=False)
        stages = ASK.select_slider("stages", _("Pipeline stages"), STAGES, default=1)
        expert = ASK.select_slider("expert", _("Expert ranks"), EXPERTS, default=1)
    try:
        return Cluster(
            device=device.device,
            num_devices=data * tensor * stages,
            zero_stage=int(zero),
            tensor=tensor,
            sequence_parallel=sequence,
            pipeline=stages,
            expert=expert,
        )
    except ValueError as problem:
        st.error(str(problem))
        return Cluster(device=device.device)


def refusal(problem: ValueError) -> Shown:
    """Say why a setting cannot be trained."""
    st.error(str(problem))
    return Shown(headline=_("This setting cannot be trained."))


def write_code(case: Case) -> str:
    """Return Python that gives the headline number."""
    scenario = case.scenario
    layout = _changed(scenario.cluster, Cluster(device=scenario.cluster.device))
    return _CODE.format(
        model=case.model,
        device=case.device,
        recipe=_changed(scenario.recipe, TrainingRecipe()),
        layout=f", {layout}" if layout else "",
    )


def _changed(value: TrainingRecipe | Cluster, plain: TrainingRecipe | Cluster) -> str:
    """Return the fields that are no defaults as keyword arguments."""
    pairs = [
        f"{field.name}={getattr(value, field.name)!r}"
        for field in fields(value)
        if field.name != "device" and getattr(value, field.name) != getattr(plain, field.name)
    ]
    return ", ".join(pairs)
