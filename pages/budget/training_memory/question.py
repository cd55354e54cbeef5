"""The question of the memory page; its answer is computed from two budgets."""

from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.recipe import Checkpointing, TrainingRecipe
from core.budget.training.memory import training_budget
from core.language import _
from pages.budget.training_memory.bar import peak_moment
from pages.budget.training_memory.inputs import ASK
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look

ASKED: Final = ("end of forward", "end of backward", "optimizer step")


def ask_when_it_peaks() -> None:
    """Ask when memory peaks once every layer is computed again."""
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
            "at the {moment}. When does it peak once every layer is computed again?"
        ).format(moment=_(before)),
        [Choice(_(name), None if name == moment else reasons[name]) for name in ASKED],
        _(
            "The gradients of nearly all layers and one layer's activations, computed again, are "
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
