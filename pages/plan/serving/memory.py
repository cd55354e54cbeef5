"""Weights and KV cache against the device, and what other kinds of attention would keep."""

from collections.abc import Sequence
from typing import Final

from core.budget.budget import Budget
from core.budget.item import Item, hedged
from core.budget.serving.kv_cache import (
    AS_MADE,
    MHA,
    KVVariant,
    kv_cache,
    kv_cache_bytes_per_token,
    kv_reserved,
    kv_variants,
)
from core.budget.serving.latency import decode_latency
from core.budget.serving.memory import (
    MOST_SEQUENCES,
    inference_budget,
    largest_concurrency,
    memory_sweep,
)
from core.budget.serving.throughput import user_speed
from core.figures.budget.serving.memory import heads_picture, memory_picture
from core.language import N_, _, ngettext
from core.units import format_count
from pages.plan.serving.code import cache_code, memory_code
from pages.plan.serving.inputs import Case, words_of
from pages.shared.answer import if_fitted
from pages.shared.beside import Compared, shown, two_names
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

RESERVED: Final = N_(
    "On paper a layer with a window keeps no more than the window. An engine that keeps one block "
    "table for all layers reserves the whole context in each of them."
)


def memory(case: Case) -> Shown:
    """Show the memory over one setting, the parts of the plan as numbers, and its speed."""
    budget = inference_budget(case.spec, case.plan, case.cluster)
    sweep = memory_sweep(case.spec, case.plan, case.cluster, case.axis)
    picture = memory_picture(sweep, case.cluster.device.name, look())
    speed = _speed_of_a_user(case)
    parts = [(_(part.name), part) for part in budget.item.children]
    return Shown(
        headline=memory_sentence(case, budget, speed),
        charts=[Chart(picture=picture, file_name="serving-memory")],
        numbers=[*parts, *([(if_fitted(_("per user"), fits=budget.fits), speed)] if speed else [])],
        code=memory_code(budget, case.plan.concurrency),
    )


def two_plans(a: Sequence[Case], b: Sequence[Case]) -> Shown:
    """Show the memory of two plans, part by part, and how fast each of their users is served."""
    cases = (*a, *b)
    return shown(*map(_side, cases, two_names(*map(words_of, cases))))


def _side(case: Case, name: str) -> Compared:
    budget = inference_budget(case.spec, case.plan, case.cluster)
    parts = [(_(part.name), part) for part in budget.item.children]
    speed = _speed_of_a_user(case)
    return Compared(
        name=name,
        rows=[
            (_("device memory"), budget.item),
            *parts,
            *([(_("tokens/s per user"), speed)] if speed else []),
        ],
        verdict=budget.words,
        code=memory_code(budget, case.plan.concurrency),
    )


def _speed_of_a_user(case: Case) -> Item | None:
    """Return the tokens/s of one of the plan's users; None for a device of unknown speed."""
    try:
        return user_speed(decode_latency(case.spec, case.plan, case.cluster))
    except ValueError:
        return None


def memory_sentence(case: Case, budget: Budget, speed: Item | None) -> str:
    """Return how many sequences fit, what the plan's take and how fast each of them is."""
    most = largest_concurrency(case.spec, case.plan, case.cluster)
    words = {
        "count": f"{most:,}",
        "context": f"{case.plan.context:,}",
        "capacity": _capacity(case, budget),
    }
    weights, is_guess = budget.item.child("weights"), budget.item.guess
    if not most:
        said = _(
            "Not one user with {context} tokens fits in {capacity}: the weights take {weights}"
        )
        if is_guess:
            said = _(
                "Perhaps not one user with {context} tokens fits in {capacity}: the weights take "
                "{weights}"
            )
        return said.format(weights=hedged(look().format_bytes(weights.amount), weights), **words)
    if is_guess:
        fits = ngettext(
            "About {count} user with {context} tokens may fit in {capacity}",
            "About {count} concurrent users with {context} tokens each may fit in {capacity}",
            most,
        )
    elif most == MOST_SEQUENCES:
        fits = _("At least {count} concurrent users with {context} tokens each fit in {capacity}")
    else:
        fits = ngettext(
            "Only {count} user with {context} tokens fits in {capacity}",
            "Up to {count} concurrent users with {context} tokens each fit in {capacity}",
            most,
        )
    plan = _plan_said(case, budget, speed, fits=case.plan.concurrency <= most)
    return _("{fits}; {plan}").format(fits=fits.format(**words), plan=plan)


def _plan_said(case: Case, budget: Budget, speed: Item | None, *, fits: bool) -> str:
    """Return what the plan's sequences take and, if they fit, how fast each is."""
    count = f"{case.plan.concurrency:,}"
    if not fits or speed is None:
        cache = budget.item.child("KV cache")
        size = hedged(look().format_bytes(cache.amount), cache)
        return _("{count} need {cache} of KV cache").format(count=count, cache=size)
    return ngettext(
        "{count} user gets {speed} tokens/s",
        "with {count}, each gets {speed} tokens/s",
        case.plan.concurrency,
    ).format(count=count, speed=hedged(format_count(speed.amount), speed))


def _capacity(case: Case, budget: Budget) -> str:
    capacity = look().format_bytes(budget.capacity)
    if case.plan.tensor == 1:
        return capacity
    words = _("{capacity} on each of {devices} devices")
    return words.format(capacity=capacity, devices=case.plan.tensor)


def heads(case: Case) -> Shown:
    """Show what other kinds of attention and formats would keep of one sequence."""
    variants = kv_variants(case.made, case.plan.context, case.plan.kv_format)
    plan, windows = case.plan, bool(case.made.num_windowed_layers)
    sizes = (case.made, plan.context, 1, plan.kv_format)
    both = [(_("on paper"), kv_cache(*sizes)), (_("as reserved"), kv_reserved(*sizes))]
    return Shown(
        headline=heads_sentence(case, variants),
        charts=[Chart(picture=heads_picture(variants, look()), file_name="kv-cache")],
        numbers=both if windows else [],
        notes=[_(RESERVED)] if windows else [],
        code=cache_code(*_compared(variants)),
    )


def _compared(variants: Sequence[KVVariant]) -> tuple[KVVariant, ...]:
    """Return the model as it was made and, if that is another one, with MHA."""
    made = next(each for each in reversed(variants) if each.name == AS_MADE)
    return (made, *(each for each in variants[::-1] if each.name == MHA))[:2]


def heads_sentence(case: Case, variants: Sequence[KVVariant]) -> str:
    """Return what the model keeps of a token and of the context, and what MHA would."""
    made, *others = _compared(variants)
    words = {
        "model": case.made.name,
        "token": look().format_bytes(kv_cache_bytes_per_token(case.made)),
        "context": f"{case.plan.context:,}",
        "total": hedged(look().format_bytes(made.cache.amount), made.cache),
        "format": f"`{case.plan.kv_format}`",
    }
    if not others:
        return _(
            "{model}: {token} per token in 16 bits; {context} tokens in {format}: {total}"
        ).format(**words)
    return _(
        "{model}: {token} per token in 16 bits; {context} tokens in {format}: {total}, "
        "with MHA {mha}"
    ).format(mha=look().format_bytes(others[0].cache.amount), **words)
