"""What is trained, how and on what: the choices of the memory page."""

from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.catalogue.profiles import PROFILES
from core.budget.cluster import Cluster
from core.budget.recipe import CHECKPOINTING, STEP_KINDS, TrainingRecipe
from core.budget.training.scenario import Scenario
from core.language import _
from core.models.spec import ModelSpec
from pages.budget.training_memory.layout import choose_layout
from pages.budget.training_memory.lora import choose_lora
from pages.budget.training_memory.words import (
    checkpointing_label,
    optimizer_label,
    precision_label,
    profile_label,
    step_label,
)
from pages.shared import pickers
from pages.shared.budget.choices import ChosenDevice, ChosenModel, choose_device, choose_model
from pages.shared.budget.offered_sizes import MOST_TRAINED, TRAINED_LENGTHS
from pages.shared.inputs import Inputs

PAGE: Final = "memory"
SEVERAL: Final = tuple(2**power for power in range(11))
PIECES: Final = tuple(2**power for power in range(8))


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """All choices of the page.

    Attributes:
        model: The model as it was chosen.
        device: The device as it was chosen.
        case: Model, recipe and cluster.
    """

    model: ChosenModel
    device: ChosenDevice
    case: Scenario


def choose_all() -> Chosen:
    """Show all inputs; a layout that cannot be is told, and one device stands in for it."""
    with st.container(key="memory_inputs", horizontal=True, vertical_alignment="bottom"):
        model, device = choose_model(Inputs(PAGE)), choose_device(Inputs(PAGE))
        recipe = _choose_recipe()
    with st.container(key="memory_sliders", horizontal=True, vertical_alignment="bottom"):
        batch, length = _choose_sizes(model.spec)
        recipe = _choose_more(replace(recipe, batch_size=batch, seq_len=length))
        lora = choose_lora(PAGE)
        cluster = _cluster(device, choose_layout(PAGE))
    case = Scenario(spec=model.spec, recipe=replace(recipe, lora=lora), cluster=cluster)
    return Chosen(model=model, device=device, case=case)


def _choose_recipe() -> TrainingRecipe:
    """Return the three choices that decide most."""
    precision = pickers.selectbox(
        PAGE,
        "precision",
        _("Number formats"),
        tuple(PRECISIONS),
        default="mixed_bf16",
        labels=precision_label,
    )
    optimizer = pickers.selectbox(
        PAGE,
        "optimizer",
        _("Optimizer"),
        tuple(OPTIMIZERS),
        default="adamw",
        labels=optimizer_label,
    )
    checkpointing = pickers.selectbox(
        PAGE,
        "checkpointing",
        _("Computed again"),
        CHECKPOINTING,
        default="none",
        labels=checkpointing_label,
    )
    return TrainingRecipe(precision=precision, optimizer=optimizer, checkpointing=checkpointing)


def _cluster(device: ChosenDevice, layout: dict[str, int]) -> Cluster:
    try:
        return Cluster(device=device.device, **layout)  # type: ignore[arg-type]  # by name
    except ValueError as problem:
        st.error(str(problem))
        return Cluster(device=device.device)


def _choose_sizes(spec: ModelSpec) -> tuple[int, int]:
    """Return sequences and their tokens; a model with a position table cannot read longer ones."""
    batch = pickers.slider(PAGE, "batch", _("Micro-batch size"), 1, MOST_TRAINED, default=1, step=1)
    length = pickers.select_slider(
        PAGE, "seq", _("Tokens of a sequence"), TRAINED_LENGTHS, default=4096, labels="{:,}".format
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
        step_kind = pickers.segmented(
            PAGE, "step", _("The optimizer's step"), STEP_KINDS, default="fused", labels=step_label
        )
        profile = pickers.selectbox(
            PAGE, "profile", _("Code that runs"), tuple(PROFILES), default="fused",
            labels=profile_label,
        )  # fmt: skip
        accumulation = pickers.select_slider(
            PAGE, "accumulation", _("Micro-batches of a step"), SEVERAL, default=8
        )
        every = pickers.slider(
            PAGE, "every", _("Layers of a checkpointed run"), 1, 32, default=4, step=1
        )
        chunks = pickers.select_slider(PAGE, "chunks", _("Pieces of the loss"), PIECES, default=1)
    steps = replace(recipe, step_kind=step_kind, profile=profile, accumulation=accumulation)
    return replace(steps, checkpoint_every=every, loss_chunks=chunks)
