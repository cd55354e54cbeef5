"""The questions of the memory page: about the peak, computed from two budgets; the allocator."""

from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.recipe import Checkpointing, TrainingRecipe
from core.budget.training.allocator_stories import CAPACITY
from core.budget.training.caching_allocator import AllocatorState
from core.budget.training.memory import training_budget
from core.language import _
from core.units import MIB
from pages.plan.training_memory.bar import peak_moment
from pages.plan.training_memory.inputs import ASK
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look

FIRST_TENSOR: Final = 5 * MIB
ASKED: Final = ("end of forward", "end of backward", "optimizer step")


def ask_when_it_peaks() -> None:
    before, _size = _peak("none")
    moment, after = _peak("full")
    reasons = {
        "end of forward": _(
            "That was the peak without it; now each layer keeps its input alone, a tenth of what "
            "it kept."
        ),
        "end of backward": _(
            "The gradients are all there then, but so they are a moment later, with copies beside "
            "them."
        ),
        "optimizer step": _("A fused step needs nothing beside the gradients themselves."),
    }
    predict_then_reveal(
        ASK.key("moment"),
        _(
            "Llama-2 7B, all in bf16, a fused optimizer step: without checkpointing memory peaks "
            "at the {moment}. When does it peak once every layer is recomputed?"
        ).format(moment=_(before)),
        [Choice(_(name), None if name == moment else reasons[name]) for name in ASKED],
        _(
            "The gradients of nearly all layers and one layer's recomputed activations are "
            "there together: {size} beyond weights and optimizer."
        ).format(size=look().format_bytes(after)),
    )


def _peak(checkpointing: Checkpointing) -> tuple[str, float]:
    recipe = TrainingRecipe(
        seq_len=4096,
        precision="pure_bf16",
        step_kind="fused",
        profile="hf_eager",
        checkpointing=checkpointing,
    )
    cluster = Cluster(device=DEVICES["a100-80gb"])
    budget = training_budget(MODELS["llama-2-7b"], recipe, cluster)
    return peak_moment(budget.largest).name, budget.largest.child("step peak").amount


def ask_what_is_reserved() -> None:
    """Ask what the allocator takes from the driver for one tensor of a middling size."""
    state = AllocatorState(capacity=CAPACITY).allocate("first", FIRST_TENSOR)
    size, idle = look().format_bytes, state.reserved - state.allocated
    wrong = {
        FIRST_TENSOR: _("That is allocated. The driver gives segments, not tensors."),
        6 * MIB: _("Segments of their own, in steps of 2 MiB, begin at tensors of 10 MiB."),
        CAPACITY: _("It asks for segments one by one; JAX takes most of a device at once."),
    }
    amounts = sorted({*wrong, state.reserved})
    predict_then_reveal(
        ASK.key("reserved"),
        _(
            "The first tensor of a program takes {tensor} on a device of {capacity}. How much does "
            "torch's allocator reserve?"
        ).format(tensor=size(FIRST_TENSOR), capacity=size(CAPACITY)),
        [Choice(size(amount), wrong.get(amount)) for amount in amounts],
        _(
            "Tensors between 1 and 10 MiB are cut from segments of {segment}: {allocated} are "
            "allocated and {idle} wait for the next ones, which then cost no call of the driver."
        ).format(segment=size(state.reserved), allocated=size(state.allocated), idle=size(idle)),
    )
