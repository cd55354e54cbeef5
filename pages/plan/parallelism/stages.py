"""What a device of each pipeline stage holds at its peak."""

from collections.abc import Sequence
from typing import Final

from core.budget.budget import Budget, at_peak
from core.budget.item import Item, hedged
from core.budget.parallel.communication import communication, exposed_seconds
from core.budget.training.memory import training_budget
from core.figures.budget.frames import framed
from core.figures.budget.stacked_parts import (
    Bars,
    capacity_line,
    parts_table,
    small_together,
    stack,
)
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.units import format_exact
from pages.plan.parallelism.inputs import Case
from pages.plan.parallelism.question import ask_which_stage
from pages.shared import page_links
from pages.shared.answer import if_fitted
from pages.shared.plan.plan import note_length, plan_query
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

HEIGHT_PX: Final = {False: 400, True: 450}  # by whether it is on a projector
_ROOM: Final = 1.12
_MOST_TOTALS: Final = 12  # bars that still have room for their total above them


def stages_picture(bars: Bars, capacity: float, look: Look) -> Picture:
    """Return the stages side by side, below the line at which a device is full."""
    alt = _stages_alt(bars, _totals(bars), capacity, look)
    drawing, totals = Drawing(), _totals(bars)
    together = [(label, small_together(parts)) for label, parts in bars]
    stack(drawing, together, look, flat=False)
    text = _("device: {size}").format(size=look.format_bytes(capacity))
    capacity_line(drawing, capacity, text, look, flat=False)
    for (label, _parts), amount in zip(bars, totals, strict=True):
        if len(bars) <= _MOST_TOTALS:
            drawing.note(x=label, y=amount, yanchor="bottom", text=look.format_bytes(amount))
    figure = framed(
        drawing, look, x={"showgrid": False, "type": "category"},
        y={"showgrid": False, "visible": False, "range": [0, _ROOM * max(capacity, *totals)]},
        height=HEIGHT_PX[look.present], margin={"l": 8, "r": 8, "t": 56, "b": 8},
        legend=look.layout()["legend"] | {"traceorder": "normal"}, barmode="stack", bargap=0.3,
    )  # fmt: skip
    return Picture(figure=figure, alt=alt, table=parts_table(bars, look, _("stage")))


def _totals(bars: Bars) -> list[int]:
    return [sum(part.num_bytes for part in parts) for _label, parts in bars]


def _stages_alt(bars: Bars, totals: Sequence[int], capacity: float, look: Look) -> str:
    most, least = totals.index(max(totals)), totals.index(min(totals))
    if len(bars) == 1:
        return _("What a device holds at its peak: {size}; a device has {capacity}.").format(
            size=look.format_bytes(totals[0]), capacity=look.format_bytes(capacity)
        )
    return _(
        "What a device of each of {count} stages holds at its peak: {first} most, {most}; {last} "
        "least, {least}; a device has {capacity}."
    ).format(
        count=len(bars),
        first=bars[most][0],
        most=look.format_bytes(totals[most]),
        last=bars[least][0],
        least=look.format_bytes(totals[least]),
        capacity=look.format_bytes(capacity),
    )


def _numbers(case: Case, budget: Budget) -> list[tuple[str, Item]]:
    """Return what a device holds, what it sends, and how long that takes."""
    time = if_fitted(_("Communication time"), fits=budget.fits)
    return [
        (_("Peak memory per device"), budget.largest),
        (_("Sent in a step"), communication(case.spec, case.recipe, case.cluster)),
        (time, exposed_seconds(case.spec, case.recipe, case.cluster)),
    ]


def _open_memory_page() -> None:
    label = _("Open in Training memory →")
    page_links.show_link("plan/training_memory", label, plan_query())


def stages(case: Case) -> Shown:
    """Show what a device of each pipeline stage holds at its peak, part by part."""
    note_length(case.chosen, "train")
    budget = training_budget(case.spec, case.recipe, case.cluster)
    bars = [
        (_("stage {number}").format(number=number), at_peak(stage))
        for number, stage in enumerate(budget.stages)
    ]
    numbers = _numbers(case, budget)
    sent = dict(numbers)[_("Sent in a step")]
    return Shown(
        headline=_stages_sentence(case, budget, sent),
        charts=[Chart(picture=stages_picture(bars, budget.capacity, look()), file_name="stages")],
        numbers=numbers,
        beside=_open_memory_page,
        code=case.code,
    )


def _stages_sentence(case: Case, budget: Budget, sent: Item) -> str:
    """Return what a device of the plan holds at most, and what it sends."""
    amounts = [stage.amount for stage in budget.stages]
    most = max(amounts)
    words = {
        "plan": _("{model} on {count} × {device}").format(
            model=case.spec.name,
            count=format_exact(case.cluster.num_devices),
            device=case.cluster.device.name,
        ),
        "held": hedged(look().format_bytes(most), budget.largest),
        "capacity": look().format_bytes(budget.capacity),
        "sent": hedged(look().format_bytes(sent.amount), sent),
    }
    if most == min(amounts):
        said = _("{plan}: each device holds {held} of {capacity} and sends {sent} in a step")
        return said.format(**words)
    return _(
        "{plan}: a device holds at most {held} of {capacity} (stage {most}) and sends {sent} in a "
        "step"
    ).format(most=amounts.index(most), **words)


TAB: Final = Tab(label=N_("Memory per stage"), show=stages, question=ask_which_stage)
