"""The answer: bytes kept through one forward and backward pass, with and without checkpoints."""

from functools import partial
from typing import Final

import streamlit as st

from core.autograd.layer_stack import Stack
from core.autograd.recomputation import Comparison, compare
from core.budget import Formula, Item
from core.language import N_, _, ngettext
from core.units import format_bytes, format_flops, format_percent
from pages.autograd.accumulation_and_recomputation.inputs import ASK, DOING, Case
from pages.autograd.accumulation_and_recomputation.kept import kept_picture
from pages.autograd.accumulation_and_recomputation.snippets import checkpointing_snippet
from pages.autograd.accumulation_and_recomputation.trade_off import swept
from pages.shared.job import in_turn
from pages.shared.page_links import show_link
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look, presenting, unit_system
from pages.shared.tabbed_page import Chart, Shown, Tab

SOURCE: Final = N_(
    "a real forward and backward pass: the storages that outlive the pass that made them, each "
    "once, without parameters, input and gradients"
)
_COUNTED: Final = N_("torch's count of what ran: matrix products")
_HELD: Final = Formula("ceil(num_layers / segment) * batch_size * width * element_bytes")
_STACK: Final = Stack(width=1024)  # of the question
_compared = st.cache_data(max_entries=64, show_spinner=False)(compare)


def checkpointing(case: Case) -> Shown:
    name, work = (
        f"segments {case.segment} {case.stack}",
        partial(_compared, case.stack, case.segment),
    )
    both = in_turn(name, work, case.stack.flops, doing=_(DOING))
    with_words = _("segments of {count}").format(count=case.segment)
    picture = kept_picture(
        both.checkpointed.moments, with_words, both.plain.moments, _("no checkpointing"), look()
    )
    return Shown(
        headline=_headline(case, both),
        charts=[Chart(picture=picture, file_name="activations-kept")],
        numbers=[] if presenting() else _numbers(case, both),
        notes=[] if presenting() else [_note(both)],
        below=None if presenting() else partial(_to_training_memory, case.segment),
        code=checkpointing_snippet(case),
    )


def _headline(case: Case, both: Comparison) -> str:
    message = ngettext(
        "Kept for backward: {held} with a checkpoint at every layer, {plain} without; "
        "FLOPs +{share}",
        "Kept for backward: {held} with a checkpoint every {segment} layers, {plain} without; "
        "FLOPs +{share}",
        case.segment,
    )
    return message.format(
        segment=case.segment,
        plain=look().format_bytes(both.plain.held),
        held=look().format_bytes(both.checkpointed.held),
        share=format_percent(both.extra_flops),
    )


def _numbers(case: Case, both: Comparison) -> list[tuple[str, Item]]:
    stack, checkpointed = case.stack, both.checkpointed
    held = measured_item(
        "held", checkpointed.held, rule=_HELD, values={
            "num_layers": stack.num_layers, "segment": case.segment,
            "batch_size": stack.batch_size, "width": stack.width,
            "element_bytes": stack.element_bytes,
        },
    )  # fmt: skip
    return [
        (_("Held after forward"), held),
        (_("Without checkpointing"), measured_item("held", both.plain.held)),
        (_("Peak"), measured_item("peak", checkpointed.peak)),
        (
            _("FLOPs recomputed"),
            measured_item("FLOPs recomputed", checkpointed.flops_recomputed, "FLOPs", _COUNTED),
        ),
    ]


def measured_item(
    name: str,
    amount: int,
    unit: str = "bytes",
    source: str = SOURCE,
    *,
    rule: Formula | None = None,
    values: dict[str, float] | None = None,
) -> Item:
    """Return a number that was measured, and the closed form that it obeys, if there is one."""
    return Item(
        name=name, amount=amount, unit=unit, low=amount, high=amount, source=source,
        kind="measured", rule=rule, values=values or {},
    )  # fmt: skip


def _note(both: Comparison) -> str:
    return _(
        "{before} → {after}, of which {again} were computed again; torch counts matrix products "
        "alone. The gradients of the weights differ by at most {difference:g}."
    ).format(
        before=format_flops(both.plain.flops),
        after=format_flops(both.checkpointed.flops),
        again=format_flops(both.checkpointed.flops_recomputed),
        difference=both.largest_difference,
    )


def _to_training_memory(segment: int) -> None:
    query = {"plan_checkpointing": "every_k", "plan_every": str(segment)}
    show_link("plan/training_memory", _("The same segments when training a model →"), query)


def ask_why_no_gain() -> None:
    """Ask what is held if each layer of Linear and ReLU is a segment; measured."""
    plain, each_layer, *_others = swept(_STACK)
    _gelu, each_gelu_layer, *_others = swept(Stack(width=1024, layer="gelu"))
    before, after, gelu_before, gelu_after = (
        format_bytes(each.held, unit_system())
        for each in (plain, each_layer, _gelu, each_gelu_layer)
    )
    half = format_bytes(plain.held // 2, unit_system())
    choices = [
        Choice(
            _("{half}: the output of Linear is no longer kept").format(half=half),
            _("It never was: ReLU keeps its output, which says as well where its derivative is 1."),
        ),
        Choice(_("{after}: nothing is gained").format(after=after)),
        Choice(
            _("Next to nothing: all is recomputed"),
            _("A segment keeps its input, or there would be nothing to recompute from."),
        ),
    ]
    predict_then_reveal(
        ASK.key("no_gain"),
        _(
            "{layers} layers of Linear and ReLU hold {before} for backward. Each layer becomes a "
            "checkpoint segment of its own (k = 1). How much is held now?"
        ).format(layers=_STACK.num_layers, before=before),
        choices,
        _(
            "ReLU keeps its output, and that is the tensor that the next Linear keeps as its "
            "input: one storage a layer, which is just what a segment keeps. GELU keeps its input, "
            "a second tensor: there k = 1 turns {gelu_before} into {gelu_after}."
        ).format(gelu_before=gelu_before, gelu_after=gelu_after),
    )


TAB: Final = Tab(label=N_("Activation checkpointing"), show=checkpointing)
