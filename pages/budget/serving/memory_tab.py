"""Weights and KV cache against the device: over the context, or over the sequences at once."""

from collections.abc import Sequence

import streamlit as st

from core.budget.budget import Budget
from core.budget.item import Item
from core.budget.serving.kv_cache import (
    AS_MADE,
    MHA,
    KVVariant,
    kv_cache_bytes_per_token,
    kv_variants,
)
from core.budget.serving.memory import (
    MOST_SEQUENCES,
    inference_budget,
    largest_concurrency,
    memory_sweep,
)
from core.figures.budget.serving.kv_bars import kv_alt, kv_figure, kv_table
from core.figures.budget.serving_memory_plot import memory_alt, memory_figure, memory_table
from core.language import N_, _, ngettext
from core.units import format_bytes
from pages.budget.serving.inputs import PAGE, ServingCase
from pages.shared.budget.beside import beside
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode, unit_system

PART_WORDS = {
    "weights": N_("weights"),
    "KV cache": N_("KV cache"),
    "work space": N_("work space"),
}


def written(item: Item) -> str:
    """Return an item's bytes in the reader's unit."""
    return format_bytes(item.amount, unit_system())


def show_memory(case: ServingCase) -> None:
    """Show the memory over one setting, and the parts of the plan as numbers."""
    budget = inference_budget(case.spec, case.plan, case.cluster)
    headline(memory_sentence(case, budget))
    sweep = memory_sweep(case.spec, case.plan, case.cluster, case.axis)
    name = case.device.device.name
    picture, numbers = beside(f"{PAGE}_memory")
    with picture:
        show_chart(
            memory_figure(sweep, name, unit_system(), theme_mode(), present=presenting()),
            key=f"{PAGE}_memory",
            alt=memory_alt(sweep, name, unit_system()),
            table=memory_table(sweep, unit_system()),
            file_name="serving-memory",
        )
    with numbers, st.container(key="serving_numbers", horizontal=presenting()):
        for part in budget.item.children:
            explained_number(_(PART_WORDS[part.name]), part)


def memory_sentence(case: ServingCase, budget: Budget) -> str:
    """Return what the plan takes and how many sequences fit, as one sentence with its numbers."""
    words = {
        "weights": written(budget.item.child("weights")),
        "cache": written(budget.item.child("KV cache")),
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


def _capacity(case: ServingCase, budget: Budget) -> str:
    capacity = format_bytes(budget.capacity, unit_system())
    if case.plan.tensor == 1:
        return capacity
    words = _("{capacity} of each of {devices} devices")
    return words.format(capacity=capacity, devices=case.plan.tensor)


def show_heads(case: ServingCase) -> None:
    """Show what other kinds of attention and formats would keep of one sequence."""
    variants = kv_variants(case.model.spec, case.plan.context, case.plan.kv_format)
    headline(heads_sentence(case, variants))
    show_chart(
        kv_figure(variants, unit_system(), theme_mode(), present=presenting()),
        key=f"{PAGE}_kv_bars",
        alt=kv_alt(variants, unit_system()),
        table=kv_table(variants, unit_system()),
        file_name="kv-cache",
    )


def heads_sentence(case: ServingCase, variants: Sequence[KVVariant]) -> str:
    """Return what the model keeps of a token and of the context, and what MHA would."""
    plan, spec = case.plan, case.model.spec
    made = next(v for v in reversed(variants) if v.name == AS_MADE)
    other = next((v for v in reversed(variants) if v.name == MHA), made)
    sentence = _("{model}: {token} a token in 16 bits; {context} tokens in {format}: {total}")
    if other is not made:
        sentence = _(
            "{model}: {token} a token in 16 bits; {context} tokens in {format}: {total}, "
            "with MHA {mha}"
        )
    return sentence.format(
        model=spec.name,
        token=format_bytes(kv_cache_bytes_per_token(spec), unit_system()),
        context=f"{plan.context:,}",
        total=written(made.cache),
        format=f"`{plan.kv_format}`",
        mha=written(other.cache),
    )
