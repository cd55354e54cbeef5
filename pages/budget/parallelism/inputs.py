"""What the page splits and how: a model, a device, three ways to divide, and the step's sizes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, TypedDict

import streamlit as st

from core.budget.catalogue.precisions import PRECISIONS
from core.budget.cluster import Cluster
from core.budget.parallel.sharding import STRATEGIES
from core.budget.recipe import CHECKPOINTING, Checkpointing, TrainingRecipe
from core.language import N_, _
from core.models.spec import ModelSpec
from pages.shared import pickers
from pages.shared.budget.choices import ChosenDevice, ChosenModel, choose_device, choose_model
from pages.shared.budget.long_context import note_long_context
from pages.shared.budget.offered_sizes import EXPERTS, REPLICAS, STAGES, TENSOR
from pages.shared.inputs import Inputs

PAGE: Final = "parallel"
MICROBATCHES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
LENGTHS: Final = (1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)
NODES: Final = (1, 2, 4, 8, 16, 72)
ZERO: Final = ("ddp", "zero1", "zero2", "zero3")
_CHECKPOINTING: Final[Mapping[Checkpointing, str]] = {
    "none": N_("nothing"),
    "selective": N_("selected"),
    "full": N_("every layer"),
    "every_k": N_("every k layers"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """All choices of the page.

    Attributes:
        model: The model.
        device: The device.
        recipe: How it is trained.
        asked_len: Tokens of a sequence as asked for; a position table may end before them.
        cluster: How it is spread over the devices.
    """

    model: ChosenModel
    device: ChosenDevice
    recipe: TrainingRecipe
    asked_len: int
    cluster: Cluster

    @property
    def spec(self) -> ModelSpec:
        """The model's architecture."""
        return self.model.spec


def choose_case() -> Case:
    """Show all inputs of the page and return what is chosen.

    Raises:
        ValueError: If the expert ranks cannot be taken from the data ranks; the sentence says so.
    """
    model = choose_model(Inputs(PAGE), default="llama-3.1-70b")
    device = choose_device(Inputs(PAGE))
    data, tensor, stages = _choose_ways()
    with st.popover(
        _("Settings"), icon=":material/tune:", key="parallel_settings", width="content"
    ):
        zero_stage = _choose_sharding()
        recipe = _choose_recipe()
        machines = _choose_machines()
    cluster = Cluster(
        device=device.device,
        num_devices=data * tensor * stages,
        zero_stage=zero_stage,
        tensor=tensor,
        pipeline=stages,
        **machines,
    )
    return Case(
        model=model,
        device=device,
        recipe=_cut(recipe, model.spec),
        asked_len=recipe.seq_len,
        cluster=cluster,
    )


def _choose_ways() -> tuple[int, int, int]:
    """Return the replicas, tensor ranks and stages."""
    data = pickers.select_slider(PAGE, "data", _("Replicas (data)"), REPLICAS, default=2)
    tensor = pickers.select_slider(PAGE, "tensor", _("Tensor ranks"), TENSOR, default=8)
    stages = pickers.select_slider(PAGE, "stages", _("Pipeline stages"), STAGES, default=4)
    return data, tensor, stages


def _cut(recipe: TrainingRecipe, spec: ModelSpec) -> TrainingRecipe:
    """Return the recipe with sequences that a model with a position table can read."""
    longest = spec.learned_positions or recipe.seq_len
    return replace(recipe, seq_len=min(recipe.seq_len, longest))


def note_lengths(case: Case) -> None:
    """Say so if sequences are longer than the model can read, or than it was made for."""
    taken = case.recipe.seq_len
    if case.asked_len == taken:
        note_long_context(case.spec, taken)
        return
    st.caption(
        _("{model} has a table of {count} positions: {count} tokens are taken.").format(
            model=case.spec.name, count=f"{taken:,}"
        )
    )


def sharding_label(key: str) -> str:
    """Return what a way to shard is called."""
    return _(STRATEGIES[key])


def checkpointing_label(key: Checkpointing) -> str:
    """Return what is computed again, in words."""
    return _(_CHECKPOINTING[key])


def _choose_sharding() -> int:
    chosen = pickers.selectbox(
        PAGE, "zero", _("Sharding"), ZERO, default="zero1", labels=sharding_label
    )
    return ZERO.index(chosen)


def _choose_recipe() -> TrainingRecipe:
    batch_size = pickers.number(PAGE, "batch", _("Micro-batch size"), 1, 256, default=1, step=1)
    seq_len = pickers.select_slider(
        PAGE, "seq_len", _("Tokens of a sequence"), LENGTHS, default=8192
    )
    microbatches = pickers.select_slider(
        PAGE, "microbatches", _("Micro-batches of a step"), MICROBATCHES, default=8
    )
    precision = pickers.selectbox(
        PAGE, "precision", _("Precision"), tuple(PRECISIONS), default="mixed_bf16",
        labels=precision_label,
    )  # fmt: skip
    checkpointing = pickers.selectbox(
        PAGE, "checkpointing", _("Computed again in the backward pass"), CHECKPOINTING[:3],
        default="none", labels=checkpointing_label,
    )  # fmt: skip
    return TrainingRecipe(
        batch_size=batch_size,
        seq_len=seq_len,
        accumulation=microbatches,
        precision=precision,
        checkpointing=checkpointing,
        step_kind="fused",
    )


def precision_label(key: str) -> str:
    """Return what a recipe of number formats is called."""
    return _(PRECISIONS[key].label)


class _Machines(TypedDict):
    """Fields of `Cluster` that few readers change."""

    sequence_parallel: bool
    expert: int
    devices_per_node: int
    network: float
    overlap: float


def _choose_machines() -> _Machines:
    sequence = pickers.toggle(PAGE, "sequence", _("Sequence parallelism"), default=True)
    expert = pickers.select_slider(PAGE, "expert", _("Expert ranks"), EXPERTS, default=1)
    nodes = pickers.select_slider(PAGE, "nodes", _("Devices of a node"), NODES, default=8)
    network = pickers.number(
        PAGE, "network", _("Network of a device, GB/s"), 1, 1000, default=50, step=5
    )
    overlap = pickers.slider(
        PAGE, "overlap", _("Hidden behind compute, %"), 0, 100, default=0, step=5
    )
    return {
        "sequence_parallel": sequence,
        "expert": expert,
        "devices_per_node": nodes,
        "network": network * 1e9,
        "overlap": overlap / 100,
    }
