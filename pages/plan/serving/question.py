"""The question of the serving page; its answers are computed from the model itself."""

from dataclasses import replace

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.serving.kv_cache import kv_cache, with_kv_heads
from core.budget.serving.memory import largest_concurrency
from core.budget.serving.plan import ServingPlan
from core.budget.weights.stored import serving_weights
from core.language import _
from pages.plan.serving.inputs import ASK
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look

MODEL = MODELS["llama-3.1-8b"]
CLUSTER = Cluster(device=DEVICES["rtx-4090"])
PLAN = ServingPlan(prompt_len=7680, output_len=512)


def ask_how_many() -> None:
    question = _(
        "{model} in bfloat16 on a {device} ({capacity} usable): how many concurrent "
        "sequences of {context} tokens can it hold?"
    )
    why = _(
        "Weights {weights}, once for all; each sequence {cache} of KV cache; the pass itself needs "
        "some workspace. Half the context would hold {more}."
    )
    half = replace(PLAN, prompt_len=PLAN.prompt_len - PLAN.context // 2)
    predict_then_reveal(
        ASK.key("how_many"),
        question.format(
            model=MODEL.name,
            device=CLUSTER.device.name,
            capacity=look().format_bytes(CLUSTER.device.memory_usable),
            context=f"{PLAN.context:,}",
        ),
        _choices(),
        why.format(
            weights=look().format_bytes(serving_weights(MODEL).amount),
            cache=look().format_bytes(kv_cache(MODEL, PLAN.context).amount),
            more=f"{largest_concurrency(MODEL, half, CLUSTER):,}",
        ),
    )


def _choices() -> list[Choice]:
    """Return the answer and what comes out if one thing is forgotten, by size."""
    every_head = with_kv_heads(MODEL, MODEL.num_heads)
    empty = CLUSTER.device.memory_usable // kv_cache(MODEL, PLAN.context).amount
    without_groups = _(
        "So many would fit with a key for each of the {heads} heads (MHA); this model shares each "
        "key among {group} heads."
    )
    group = MODEL.num_heads // MODEL.num_kv_heads
    found = {
        int(empty): _("So many caches fit on an empty device: the weights need their place too."),
        largest_concurrency(every_head, PLAN, CLUSTER): without_groups.format(
            heads=MODEL.num_heads, group=group
        ),
        largest_concurrency(MODEL, PLAN, CLUSTER): None,
    }
    return [Choice(f"{count:,}", why_wrong) for count, why_wrong in sorted(found.items())]
