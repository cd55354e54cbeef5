"""The answer: bytes kept through one forward and backward pass, with and without checkpoints."""

from functools import partial
from typing import Final

from core.autograd.recomputation import Comparison, Run
from core.budget import Formula, Item
from core.figures.autograd.accumulation_and_recomputation.kept import kept_picture
from core.language import N_, _, ngettext
from core.units import format_flops, format_percent
from pages.autograd.accumulation_and_recomputation.inputs import Case
from pages.autograd.accumulation_and_recomputation.measured import compared
from pages.autograd.accumulation_and_recomputation.snippets import checkpointing_snippet
from pages.shared.page_links import show_link
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab

SOURCE: Final = N_(
    "a real forward and backward pass: the storages that outlive the pass that made them, each "
    "once, without parameters, input and gradients"
)
_COUNTED: Final = N_("torch's count of what ran: matrix products")
_HELD: Final = Formula("ceil(num_layers / segment) * batch_size * width * element_bytes")


def checkpointing(case: Case) -> Shown:
    both = compared(case.stack, case.segment)
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
    said = ngettext(
        "Kept for backward: {held} with a checkpoint at every layer, {plain} without; "
        "FLOPs +{share}",
        "Kept for backward: {held} with a checkpoint every {segment} layers, {plain} without; "
        "FLOPs +{share}",
        case.segment,
    )
    return said.format(
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
        (_("FLOPs recomputed"), _flops(checkpointed)),
    ]


def _flops(run: Run) -> Item:
    return measured_item("FLOPs recomputed", run.flops_recomputed, unit="FLOPs", source=_COUNTED)


def measured_item(
    name: str,
    amount: int,
    *,
    unit: str = "bytes",
    source: str = SOURCE,
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


TAB: Final = Tab(label=N_("Activation checkpointing"), show=checkpointing)
