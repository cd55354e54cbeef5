"""Weights and KV cache against the device, and what other kinds of attention would keep."""

from collections.abc import Sequence
from typing import Final

from core.budget.budget import Budget
from core.budget.serving.kv_cache import (
    AS_MADE,
    MHA,
    KVVariant,
    kv_cache_bytes_per_token,
    kv_variants,
)
from core.budget.serving.memory import (
    AXES,
    MOST_SEQUENCES,
    Axis,
    inference_budget,
    largest_concurrency,
    memory_sweep,
)
from core.figures.budget.serving.memory import heads_picture, memory_picture
from core.language import N_, _, ngettext
from pages.budget.serving.inputs import ASK, Case
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

PART_WORDS: Final = {
    "weights": N_("weights"),
    "KV cache": N_("KV cache"),
    "workspace": N_("workspace"),
}


def choose_axis() -> Axis:
    """Return what changes in the picture of the memory."""
    words = {"context": _("context"), "sequences": _("sequences")}
    return ASK.segmented(
        "axis", _("Memory over"), AXES, default="context", labels=words.__getitem__
    )


def memory(case: Case, axis: Axis) -> Shown:
    """Show the memory over one setting, and the parts of the plan as numbers."""
    budget = inference_budget(case.spec, case.plan, case.cluster)
    sweep = memory_sweep(case.spec, case.plan, case.cluster, axis)
    picture = memory_picture(sweep, case.cluster.device.name, look())
    return Shown(
        headline=memory_sentence(case, budget),
        charts=[Chart(picture=picture, file_name="serving-memory")],
        numbers=[(_(PART_WORDS[part.name]), part) for part in budget.item.children],
        code=case.code,
    )


def memory_sentence(case: Case, budget: Budget) -> str:
    """Return what the plan takes and how many sequences fit, as one sentence with its numbers."""
    words = {
        "weights": look().format_bytes(budget.item.child("weights").amount),
        "cache": look().format_bytes(budget.item.child("KV cache").amount),
        "plan": f"{case.plan.concurrency:,}",
        "capacity": _capacity(case, budget),
        "context": f"{case.plan.context:,}",
    }
    most = largest_concurrency(case.spec, case.plan, case.cluster)
    if not most:
        return _(
            "{weights} weights + {cache} KV cache for {plan}: not one sequence of {context} "
            "tokens fits in {capacity}"
        ).format(**words)
    if most == MOST_SEQUENCES:
        return _(
            "{weights} weights + {cache} KV cache for {plan}: at least {count} sequences of "
            "{context} tokens fit in {capacity}"
        ).format(count=f"{most:,}", **words)
    return ngettext(
        "{weights} weights + {cache} KV cache for {plan}: only {count} sequence of {context} "
        "tokens fits in {capacity}",
        "{weights} weights + {cache} KV cache for {plan}: up to {count} sequences of {context} "
        "tokens fit in {capacity}",
        most,
    ).format(count=f"{most:,}", **words)


def _capacity(case: Case, budget: Budget) -> str:
    capacity = look().format_bytes(budget.capacity)
    if case.plan.tensor == 1:
        return capacity
    words = _("{capacity} of each of {devices} devices")
    return words.format(capacity=capacity, devices=case.plan.tensor)


def heads(case: Case) -> Shown:
    """Show what other kinds of attention and formats would keep of one sequence."""
    variants = kv_variants(case.made, case.plan.context, case.plan.kv_format)
    return Shown(
        headline=heads_sentence(case, variants),
        charts=[Chart(picture=heads_picture(variants, look()), file_name="kv-cache")],
        code=case.code,
    )


def heads_sentence(case: Case, variants: Sequence[KVVariant]) -> str:
    """Return what the model keeps of a token and of the context, and what MHA would."""
    made = next(v for v in reversed(variants) if v.name == AS_MADE)
    other = next((v for v in reversed(variants) if v.name == MHA), made)
    sentence = _("{model}: {token} a token in 16 bits; {context} tokens in {format}: {total}")
    if other is not made:
        sentence = _(
            "{model}: {token} a token in 16 bits; {context} tokens in {format}: {total}, "
            "with MHA {mha}"
        )
    return sentence.format(
        model=case.made.name,
        token=look().format_bytes(kv_cache_bytes_per_token(case.made)),
        context=f"{case.plan.context:,}",
        total=look().format_bytes(made.cache.amount),
        format=f"`{case.plan.kv_format}`",
        mha=look().format_bytes(other.cache.amount),
    )
