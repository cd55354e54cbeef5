"""What an out-of-memory text, a measured peak and a memory snapshot mean, in words."""

import re
from collections.abc import Sequence
from typing import Final

from core.budget.diagnosis.measured import MeasuredPeak
from core.budget.diagnosis.out_of_memory import OutOfMemory
from core.budget.diagnosis.snapshot.answer import CATEGORIES, Point, Snapshot
from core.budget.diagnosis.suspects import TENSORS, Suspect, most_in_segment, suspects_elsewhere
from core.budget.item import Item
from core.budget.planning.plan import Plan
from core.language import N_, _
from core.units import ByteUnit, format_bytes, format_percent

_MANY_TIMES: Final = 10  # from there on no percentage says how far two numbers are apart
_COMPARED: Final = {
    (True, -1): N_("B's peak in tensors, {b}, is {difference} below A's {a}"),
    (True, 0): N_("A and B have the same peak in tensors: {a}"),
    (True, 1): N_("B's peak in tensors, {b}, is {difference} above A's {a}"),
    (False, -1): N_("When it was taken B held {b} in tensors, {difference} less than A with {a}"),
    (False, 0): N_("When they were taken A and B held the same in tensors: {a}"),
    (False, 1): N_("When it was taken B held {b} in tensors, {difference} more than A with {a}"),
}
"""Whether both have a history, and the sign of B - A -> the sentence."""
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
        _("{name}, {full}").format(name=name, full=f"{what(suspect)} ({product(suspect)})")
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
    ratio = expected.amount / told.peak
    text = N_("{measured} in tensors were measured at the peak, {predicted} predicted: {off} more")
    if ratio < 1:
        text = N_(
            "{measured} in tensors were measured at the peak, {predicted} predicted: {off} less"
        )
    if ratio >= _MANY_TIMES:
        text = N_("{measured} in tensors were measured at the peak, {predicted} predicted: {times} "
                  "times as much")  # fmt: skip
    elif ratio <= 1 / _MANY_TIMES:
        text = N_("{measured} in tensors were measured at the peak, {times} times the {predicted} "
                  "predicted")  # fmt: skip
    return _(text).format(
        measured=format_bytes(told.peak, unit),
        predicted=format_bytes(expected.amount, unit),
        off=format_percent(abs(ratio - 1)),
        times=f"{max(ratio, 1 / ratio):,.0f}",
    )


def snapshot_sentence(told: Snapshot, unit: ByteUnit = "GiB") -> str:
    """Return the peak and what lies idle; without a history the latter alone."""
    share = format_percent(told.idle / told.reserved) if told.reserved else format_percent(0)
    if not told.points:
        text = N_(
            "No history was recorded: {active} of {reserved} reserved lie in tensors, {share} idle"
        )
        if told.is_first:
            text = N_("At the end {active} of {reserved} reserved lie in tensors, {share} idle")
        return _(text).format(
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


def compared_moments(a: Snapshot, b: Snapshot) -> tuple[Point, Point]:
    """Return the peaks; where one has no history, the moments when the snapshots were taken."""
    return (a.peak, b.peak) if a.points and b.points else (a.at_end, b.at_end)


def compared_sentence(a: Snapshot, b: Snapshot, unit: ByteUnit = "GiB") -> str:
    """Return by how much snapshot B holds more or less than A, and which category made most of it.

    It is named where stacks of both tell it: without a history torch knows none.
    """
    one, two = compared_moments(a, b)
    more, has_peaks = two.active - one.active, bool(a.points and b.points)
    sizes = {"a": one.active, "b": two.active, "difference": abs(more)}
    text = _(_COMPARED[has_peaks, (more > 0) - (more < 0)]).format(
        **{name: format_bytes(size, unit) for name, size in sizes.items()}
    )
    if not has_peaks or not more:
        return text
    sign = 1 if more > 0 else -1
    changes = {name: sign * (two.by_category[name] - one.by_category[name]) for name in CATEGORIES}
    name = max(changes, key=lambda each: changes[each])
    difference = ("+" if more > 0 else "−") + format_bytes(changes[name], unit)
    values = {"category": _(CATEGORIES[name]), "difference": difference}
    return text + _("; {category} alone {difference}").format(**values)
