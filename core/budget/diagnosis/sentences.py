"""What an out-of-memory text, a measured peak and a memory snapshot mean, in words."""

import re
from collections.abc import Sequence
from typing import Final

from core.budget.diagnosis.measured import MeasuredPeak
from core.budget.diagnosis.out_of_memory import OutOfMemory
from core.budget.diagnosis.snapshot.answer import Snapshot
from core.budget.diagnosis.suspects import TENSORS, Suspect, most_in_segment, suspects_elsewhere
from core.budget.item import Item
from core.budget.planning.plan import Plan
from core.language import N_, _
from core.units import ByteUnit, format_bytes, format_percent

WIDTHS: Final = {2: N_("16 bits"), 4: N_("fp32")}
_MOST_MODELS: Final = 3
_CEILING: Final = re.compile(r"ceil\(([^)]*)\)")


def out_of_memory_sentence(
    told: OutOfMemory, suspects: Sequence[Suspect], plan: Plan, unit: ByteUnit = "GiB"
) -> str:
    """Return what was asked for, and what was in tensors already."""
    first = _on_request(told, suspects, plan.spec.name, unit)
    if told.allocated is None:
        return first
    if told.total is None:
        held = _("{held} were in tensors already").format(
            held=exact(told.allocated.num_bytes, unit)
        )
    else:
        held = _("{held} of {total} were in tensors already").format(
            held=exact(told.allocated.num_bytes, unit), total=exact(told.total.num_bytes, unit)
        )
    return first + _("; ") + held


def _on_request(told: OutOfMemory, suspects: Sequence[Suspect], model: str, unit: ByteUnit) -> str:
    if most := most_in_segment(told):
        text = _("{asked} is what torch asks for any tensor below {most}: it does not tell which")
        if suspects:
            text = _("{asked} is what torch asks for any tensor below {most}, such as {what}")
    elif not suspects:
        text = _("No tensor of {model} that is counted here has the size {asked}")
    elif told.requested.agrees(suspects[0].item.num_bytes):
        text = _("{asked} is the size of {what}: {product} bytes")
    else:
        text = _("{asked} is the size of {what}, rounded up as torch asks: {product} bytes")
    words = {"what": what(suspects[0]), "product": product(suspects[0])} if suspects else {}
    asked, bound = exact(told.requested.num_bytes, unit), format_bytes(most, unit)
    return text.format(asked=asked, most=bound, model=model, **words)


def elsewhere_sentence(told: OutOfMemory, plan: Plan) -> str:
    """Return which other models have a tensor of the requested size; "" where none has one."""
    found = suspects_elsewhere(told, plan.recipe, plan.cluster)
    shown = [
        f"{name}, {what(suspect)} ({product(suspect)})"
        for name, suspect in list(found.items())[:_MOST_MODELS]
    ]
    if not shown:
        return ""
    text = _("This is the size of a tensor of other models: {tensors}. If it was one of these, "
             "choose it.")  # fmt: skip
    return text.format(tensors=_("; ").join(shown))


def exact(num_bytes: int, unit: ByteUnit = "GiB") -> str:
    """Return bytes with two decimals, as torch prints them, unless GB are asked for."""
    if unit == "GB":
        return format_bytes(num_bytes, unit)
    for size, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if num_bytes >= size:
            return f"{num_bytes / size:.2f} {name}"
    return f"{num_bytes} B"


def what(suspect: Suspect) -> str:
    """Return a suspect in words: "a feed-forward matrix of a layer, fp32"."""
    return _(suspect.sentence).format(
        tensor=_(TENSORS[suspect.tensor]) if suspect.tensor else "",
        width=_(WIDTHS[suspect.width]),
        shards=f"{suspect.num_shards:,}",
        tokens=f"{suspect.num_tokens:,}",
    )


def product(suspect: Suspect) -> str:
    """Return the rule with its numbers, as people write it: "11,008 × 4,096 × 4"."""
    return _CEILING.sub(r"\1", suspect.item.substituted).replace(" ** 2", "²").replace("*", "×")


def measured_sentence(told: MeasuredPeak, expected: Item, unit: ByteUnit = "GiB") -> str:
    """Return both peaks, and how far the prediction is off."""
    off = expected.amount / told.peak - 1
    text = _("{measured} in tensors were measured at the peak, {predicted} predicted: {off} more")
    if off < 0:
        text = _(
            "{measured} in tensors were measured at the peak, {predicted} predicted: {off} less"
        )
    return text.format(
        measured=format_bytes(told.peak, unit),
        predicted=format_bytes(expected.amount, unit),
        off=format_percent(abs(off)),
    )


def snapshot_sentence(told: Snapshot, unit: ByteUnit = "GiB") -> str:
    """Return the peak and what lies idle; without a history the latter alone."""
    share = format_percent(told.idle / told.reserved) if told.reserved else format_percent(0)
    if not told.points:
        return _(
            "No history was recorded: {active} of {reserved} reserved lie in tensors, {share} idle"
        ).format(
            active=format_bytes(told.active, unit),
            reserved=format_bytes(told.reserved, unit),
            share=share,
        )
    return _(
        "Peak {peak} in tensors, {reserved} reserved then; at the end {share} of {end} lies idle"
    ).format(
        peak=format_bytes(told.peak.active, unit),
        reserved=format_bytes(told.peak.reserved, unit),
        share=share,
        end=format_bytes(told.reserved, unit),
    )
