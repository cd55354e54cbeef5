"""Who works when in a pipeline, and its bubble."""

from collections.abc import Sequence
from typing import Final

from core.budget.parallel import pipeline
from core.budget.parallel.pipeline import Pass, Slot, most_held
from core.budget.training.memory import training_budget
from core.figures.budget.frames import bare_rows, text_size
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _, ngettext
from core.units import format_percent
from pages.plan.parallelism.communication_time import compute_of_a_step
from pages.plan.parallelism.inputs import Case
from pages.shared.answer import if_fitted
from pages.shared.plan.plan import note_length
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

_ROW_PX: Final = 34
_FEWEST_ROWS: Final = 2  # in less height Plotly leaves the title no room below the ticks
_MOST_ROWS_PX: Final = 380
_PALER: Final = 0.6  # so much of its colour does the last virtual stage lack at most
_MOST_NUMBERED: Final = 600  # passes that still have room for a number
_PASSES: Final[tuple[tuple[Pass, str, str], ...]] = (
    ("forward", N_("forward pass"), ""),
    ("backward", N_("backward pass"), "/"),
)
Schedule = Sequence[Sequence[Slot]]


def schedule_picture(slots: Schedule, look: Look) -> Picture:
    """Return one row a stage with its forward and backward passes; a number names the micro-batch.

    The later virtual stages of a stage are paler.
    """
    drawing, size = Drawing(), text_size(look)
    _draw_passes(drawing, slots, look)
    rows = list(range(len(slots)))
    figure = bare_rows(
        drawing,
        look,
        x={
            "title": {"text": _("time, in forward passes of one stage"), "standoff": 4},
            "range": [0, schedule_end(slots)],
        },
        y={
            "tickvals": rows,
            "ticktext": [_("stage {number}").format(number=row) for row in rows],
            "range": [len(slots) - 0.5, -0.5],
        },
        height=min(_MOST_ROWS_PX, max(_FEWEST_ROWS, len(slots)) * _ROW_PX) + 6 * size,
        top=3 * size,
        barmode="overlay",
        bargap=0.12,
    )
    return Picture(figure=figure, alt=_schedule_alt(slots), table=_schedule_table(slots))


def _draw_passes(drawing: Drawing, slots: Schedule, look: Look) -> None:
    numbered, ground = sum(map(len, slots)) <= _MOST_NUMBERED, look.color("background")
    hover = _("stage {stage}, micro-batch {number}")
    if num_virtual(slots) > 1:
        hover = _("stage {stage}, virtual stage {run}, micro-batch {number}")
    hover = hover.format(stage="%{y}", number="%{text}", run="%{customdata}")
    for direction, name, pattern in _PASSES:
        shown = [slot for row in slots for slot in row if slot.direction == direction]
        lines = {"shape": pattern, "fillmode": "overlay", "fgcolor": ground, "fgopacity": 0.3}
        drawing.bar(
            orientation="h", y=[slot.stage for slot in shown], base=[slot.start for slot in shown],
            x=[slot.end - slot.start for slot in shown], name=_(name),
            marker={
                "color": look.color(direction),
                "pattern": lines,
                "opacity": [1 - _PALER * slot.run / num_virtual(slots) for slot in shown],
                "line": {"color": ground, "width": 1},
            },
            text=[str(slot.microbatch) if numbered else "" for slot in shown],
            textposition="inside", insidetextanchor="middle", textangle=0,
            textfont={"color": ground}, customdata=[slot.run for slot in shown],
            hovertemplate=hover + "<extra>%{fullData.name}</extra>",
        )  # fmt: skip


def num_virtual(slots: Schedule) -> int:
    return 1 + max(slot.run for slot in slots[0])


def schedule_end(slots: Schedule) -> float:
    return max(row[-1].end for row in slots)


def idle_share(slots: Schedule) -> float:
    """Return the share of the time that a stage waits; all wait equally long."""
    busy = sum(slot.end - slot.start for slot in slots[0])
    return 1 - busy / schedule_end(slots)


def _schedule_alt(slots: Schedule) -> str:
    virtual, held = num_virtual(slots), most_held(tuple(slots[0]))
    words = {
        "stages": stages_text(len(slots)),
        "batches": batches_text(len(slots[0]) // (2 * virtual)),
        "virtual": virtual,
        "idle": format_percent(idle_share(slots)),
        "held": batches_text(held),
        "part": f"{held / virtual:.4g}",
    }
    if virtual == 1:
        return _(
            "A pipeline of {stages} with {batches}, one forward and one backward pass in turn; "
            "each stage waits {idle} of the time. Stage 0 holds activations of {held} at most."
        ).format(**words)
    return _(
        "A pipeline of {stages}, each of {virtual} virtual stages that take turns, with {batches}; "
        "each stage waits {idle} of the time. Stage 0 holds as many activations as {part} "
        "micro-batches have, at most."
    ).format(**words)


def stages_text(count: int) -> str:
    """Return a number of stages in words: "1 stage", "4 stages"."""
    return ngettext("{count} stage", "{count} stages", count).format(count=count)


def batches_text(count: int) -> str:
    return ngettext("{count} micro-batch", "{count} micro-batches", count).format(count=count)


def _schedule_table(slots: Schedule) -> Table:
    return {
        _("stage"): list(range(len(slots))),
        _("first pass starts"): [row[0].start for row in slots],
        _("last pass ends"): [row[-1].end for row in slots],
        _("micro-batches held at most"): [
            round(most_held(tuple(row)) / num_virtual(slots), 2) for row in slots
        ],
    }


MOST_STAGES: Final = 16
MOST_MICROBATCHES: Final = 32
CODE: Final = """
stages, microbatches, virtual = {stages}, {batches}, {virtual}  # virtual stages of a device

waiting = (stages - 1) / (virtual * microbatches + stages - 1)
print(f"each stage waits {{waiting:.1%}} of the time")
"""


def schedule(case: Case) -> Shown:
    note_length(case.chosen, "train")
    stages, batches = case.cluster.pipeline, case.recipe.accumulation
    virtual = case.cluster.virtual_stages
    compute = compute_of_a_step(case)  # first: without a peak there is nothing to show
    shown = pipeline.part_to_draw(case.cluster, batches, MOST_STAGES, MOST_MICROBATCHES)
    drawn = pipeline.schedule(*shown, num_virtual=virtual)
    cut = _("Drawn with {stages} and {batches}, to be seen.").format(
        stages=stages_text(shown[0]), batches=batches_text(shown[1])
    )
    bubble = pipeline.bubble_seconds(case.cluster, batches, compute.amount)
    fits = training_budget(case.spec, case.recipe, case.cluster).fits
    numbers = {_("Compute"): compute, _("Bubble"): bubble}
    return Shown(
        headline=_schedule_sentence(stages, batches, virtual),
        charts=[Chart(picture=schedule_picture(drawn, look()), file_name="schedule")],
        numbers=[(if_fitted(label, fits=fits), item) for label, item in numbers.items()],
        notes=[cut] if shown != (stages, batches) else [],
        code=CODE.format(stages=stages, batches=batches, virtual=virtual),
    )


def _schedule_sentence(stages: int, batches: int, virtual: int) -> str:
    if stages == 1:
        return _("One stage has nobody to wait for: there is no pipeline and no bubble")
    words = {
        "stages": stages_text(stages),
        "batches": batches_text(batches),
        "virtual": virtual,
        "idle": format_percent(pipeline.waiting_share(stages, batches, virtual)),
        "plain": format_percent(pipeline.waiting_share(stages, batches)),
    }
    if virtual == 1:
        return _("{stages}, {batches}: each stage waits {idle} of the time").format(**words)
    return _(
        "{stages} of {virtual} virtual stages each, {batches}: each stage waits {idle} of the "
        "time instead of {plain}"
    ).format(**words)


TAB: Final = Tab(label=N_("Pipeline"), show=schedule)
