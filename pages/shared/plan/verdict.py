"""What is said of a plan on every page of Sizing: whether it fits, on how many devices at least."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import streamlit as st

from core.budget.budget import at_peak
from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.item import Item, hedged
from core.budget.planning import plan as planning
from core.budget.planning.changes import GROUPS, Change, chain, changes, savings
from core.budget.planning.plan import Count, Fewest, Plan, Work, on_count
from core.language import _, ngettext
from core.language.listing import followed_by
from pages.shared.plan.choices import CHECKPOINTED
from pages.shared.plan.plan import ASK, BASES, SHARDING, Chosen, take_over
from pages.shared.settings import locked, look
from pages.shared.tabbed_page import Shown

_MOST_CHANGES: Final = 3


@st.cache_resource(max_entries=128, show_spinner=False)
def fewest_devices(plan: Plan) -> Fewest:
    """Return how many devices a plan needs at least: many readers ask it of the same."""
    return planning.fewest_devices(plan)


@st.cache_resource(max_entries=128, show_spinner=False)
def single_changes(plan: Plan) -> tuple[Change, ...]:
    """Return the changes each of which alone makes a plan fit."""
    return changes(plan)


def plan_line(chosen: Chosen, work: Work) -> str:
    """Return whether the plan fits and how many devices it needs at least, for a page's own job."""
    plan = replace(chosen.plan, work=work)
    try:
        said = followed_by(
            verdict(on_count(plan, plan.num_devices)), how_many(fewest_devices(plan))
        )
    except ValueError as error:  # the model cannot be split so
        return str(error)
    if plan.work == chosen.plan.work:
        return said
    other = {
        "train": _("The plan is to serve; this page trains."),
        "serve": _("The plan is to train; this page serves."),
    }[work]
    return followed_by(other, said)


def what(plan: Plan) -> str:
    """Return the job as it is spoken: "Serving Llama-2 13B in bfloat16"."""
    if plan.work == "train":
        return _("Training {model}").format(model=plan.spec.name)
    return _("Serving {model} in {way}").format(
        model=plan.spec.name, way=plan.serving.weight_format
    )


def parts_of(count: Count) -> Sequence[Item]:
    """Return the parts of what a device holds, at the peak of a step or while it serves."""
    return at_peak(count.need) if count.plan.work == "train" else count.need.children


def largest_part(count: Count) -> str:
    return _(max(parts_of(count), key=lambda part: part.amount).name)


def verdict(here: Count) -> str:
    """Return whether the plan fits on the devices that it names."""
    device = here.plan.cluster.device
    text = {
        "fits": _("{what} on {count} {device} fits: {need} of {capacity} each."),
        "close": _("{what} on {count} {device} may fit: {need} of {capacity} each."),
        "too_big": _("{what} on {count} {device} does not fit: {need} of {capacity} each."),
    }[here.verdict]
    return text.format(
        what=what(here.plan),
        count=f"**{here.num_devices:,}**",
        device=device.name,
        need=hedged(look().format_bytes(here.need.amount), here.need),
        capacity=look().format_bytes(device.memory_usable),
    )


def how_many(fewest: Fewest) -> str:
    """Return the fewest devices on which it fits, and from which number on it may."""
    values = {
        name: f"{count.num_devices:,}"
        for name in ("fits", "borderline", "largest")
        if (count := getattr(fewest, name)) is not None
    }
    if fewest.fits and fewest.borderline:
        text = _("**{borderline}** is borderline, **{fits}** fits.")
    elif fewest.fits:
        text = _("Needed at least: **{fits}**.")
    elif fewest.borderline:
        text = _("From **{borderline}** on it may fit.")
    elif fewest.largest:
        text = _(
            "It fits on none of up to {largest}, which is as many as can share the work; what "
            "fails then: **{part}**."
        )
        values["part"] = largest_part(fewest.largest)
    else:
        text = _("No number of devices can share the batch.")
    return text.format(**values)


def show_changes(plan: Plan, here: Count) -> None:
    """Show up to three changes, each a button that makes it, with its number afterwards."""
    found, title = _of_several_groups(single_changes(plan)), _("What makes it fit")
    if here.verdict == "fits":
        found, title = savings(plan), _("More than half is free")
    elif not found:
        found, title = chain(plan), _("No single change is enough; one after the other")
    if not found:
        return
    st.markdown(f"**{title}**")
    for place, change in enumerate(found[:_MOST_CHANGES]):
        st.button(
            _change_label(change),
            key=ASK.key(f"change_{place}"),
            help=_(GROUPS[change.group]),
            on_click=partial(take_over, plan, change),
            disabled=locked(),
            width="stretch",
        )


def _of_several_groups(found: Sequence[Change]) -> Sequence[Change]:
    """Return those to show: the first of each group before a second of one, in their order."""
    firsts = {change.group: change for change in reversed(found)}
    shown = sorted(found, key=lambda change: firsts[change.group] is not change)[:_MOST_CHANGES]
    return [change for change in found if change in shown]


def _change_label(change: Change) -> str:
    return _("{change}: {need}").format(
        change=change_words(change),
        need=hedged(look().format_bytes(change.need.amount), change.need),
    )


def change_words(change: Change) -> str:
    """Return a change in words: "Precision: pure bf16"."""
    value = str(change.value)
    said = {
        "zero_stage": lambda: _(SHARDING[value]),
        "batch_size": lambda: _("Micro-batch size {count}").format(count=value),
        "loss_chunks": lambda: _("{count} loss chunks").format(count=value),
        "checkpointing": lambda: _("Checkpointing: {kind}").format(kind=_(CHECKPOINTED[value])),
        "tensor": lambda: _("{count} tensor-parallel ranks").format(count=value),
        "context": lambda: _("{count} context-parallel ranks").format(count=value),
        "optimizer": lambda: _(OPTIMIZERS[value].label),
        "precision": lambda: _(PRECISIONS[value].label),
        "lora": lambda: _("LoRA {base}").format(base=_(BASES[value])),
        "seq_len": lambda: _("{tokens} tokens a sequence").format(tokens=f"{change.value:,}"),
        "prompt_len": lambda: _("{tokens} tokens a sequence").format(
            tokens=f"{change.plan.serving.context:,}"
        ),
        "kv_format": lambda: _("KV cache in {format}").format(format=value),
        "weight_format": lambda: _("Weights in {format}").format(format=value),
        "concurrency": lambda: ngettext(
            "{count} concurrent sequence", "{count} concurrent sequences", int(change.value)
        ).format(count=f"{change.value:,}"),
        "num_devices": lambda: ngettext(
            "{count} device", "{count} devices", int(change.value)
        ).format(count=f"{change.value:,}"),
        "device": lambda: DEVICES[value].name,
    }
    return said[change.name]()


def refusal(problem: ValueError) -> Shown:
    """Say why a page has no answer: of a layout that cannot be, or a device without its numbers."""
    st.error(str(problem))
    return Shown(headline=_("These choices cannot go together."))
