"""What is trained on which cluster, in the tab of time in lines."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

from streamlit.delta_generator import DeltaGenerator

from core.budget.cluster import Cluster
from core.budget.recipe import Checkpointing, TrainingRecipe
from core.language import _
from core.models.spec import ModelSpec
from pages.budget.flops_and_time import places
from pages.budget.flops_and_time.places import PAGE
from pages.shared import pickers
from pages.shared.budget.choices import ChosenDevice, ChosenModel

POWERS: Final = tuple(2**power for power in range(15))
LENGTH: Final = 4096  # tokens of a sequence, of models that can read so many
SPLITS: Final = (1, 2, 4, 8, 16)
BATCHES: Final = tuple(2**power for power in range(16, 27))


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A training run on a cluster.

    Attributes:
        model: What is trained.
        device: On what.
        count: How many devices.
        layout: How the model is split over them, as fields of `Cluster`.
        recipe: How it is trained, without the micro-batches of a step.
        batch: Tokens of one step.
        share: Share of the peak that the products reach.
        trillions: Tokens that training sees, in units of 10**12.
    """

    model: ChosenModel
    device: ChosenDevice
    count: int
    layout: Mapping[str, object]
    recipe: TrainingRecipe
    batch: int
    share: float
    trillions: float

    @property
    def tokens(self) -> float:
        """Tokens that training sees."""
        return self.trillions * 1e12


def choose_plan(row: DeltaGenerator) -> Plan:
    """Show the inputs and return what they say."""
    with row:
        chosen = places.model()
        count = pickers.select_slider(
            PAGE, "cluster", _("Devices"), POWERS, default=64, labels=lambda n: f"{n:,}"
        )
        with places.aside() as box:
            device = places.device()
        with places.settings(box):
            layout = _layout()
            recipe, batch = _recipe(chosen.spec)
            share = pickers.slider(
                PAGE, "share", _("Share of the peak that products reach"), 0.05, 1.0,
                default=0.6, step=0.05,
            )  # fmt: skip
            trillions = pickers.number(
                PAGE, "seen", _("Tokens in T"), 0.000_001, 10_000.0, default=1.0, step=1.0
            )
    return Plan(
        model=chosen, device=device, count=count, layout=layout, recipe=recipe, batch=batch,
        share=share, trillions=trillions,
    )  # fmt: skip


def spread(recipe: TrainingRecipe, cluster: Cluster, batch: int) -> TrainingRecipe:
    """Return the recipe with as many micro-batches as make a step of about `batch` tokens."""
    micro = recipe.num_tokens * cluster.data
    return replace(recipe, accumulation=max(1, batch // micro))


def _layout() -> dict[str, object]:
    return {
        "tensor": pickers.select_slider(
            PAGE, "tensor", _("Tensor-parallel ranks"), SPLITS, default=1
        ),
        "pipeline": pickers.select_slider(
            PAGE, "pipeline", _("Pipeline stages"), SPLITS, default=1
        ),
        "zero_stage": pickers.segmented(
            PAGE, "zero", _("ZeRO stage"), (0, 1, 2, 3), default=3
        ),
        "overlap": pickers.slider(
            PAGE, "overlap", _("Communication hidden behind compute"), 0.0, 1.0,
            default=0.5, step=0.05,
        ),
    }  # fmt: skip


def _recipe(spec: ModelSpec) -> tuple[TrainingRecipe, int]:
    batch = pickers.select_slider(
        PAGE, "step", _("Tokens of one step"), BATCHES, default=2**22, labels=lambda n: f"{n:,}"
    )
    checkpointing = cast("Checkpointing", places.checkpointing())
    seq_len = min(LENGTH, spec.seq_len)
    return TrainingRecipe(seq_len=seq_len, checkpointing=checkpointing), batch
