"""Communication time, and time in a pipeline."""

from typing import Final, get_args

from core.budget.cluster import Cluster
from core.budget.item import Item, total
from core.budget.parallel import pipeline
from core.budget.parallel.communication import exposed_seconds
from core.budget.parallel.context import causal_work
from core.budget.parallel.ranks import Axis, group
from core.budget.parallel.ring import times_sent
from core.budget.training.duration import training_time
from core.budget.training.memory import training_budget
from core.figures.budget.parallelism.links import (
    LinkView,
    batches_text,
    links_picture,
    schedule_picture,
    stages_text,
)
from core.language import _
from core.units import format_percent, format_seconds
from pages.plan.parallelism.inputs import Case, note_lengths
from pages.shared.answer import if_fitted
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

REACHED: Final = 0.5  # of the peak, while products run
MOST_STAGES: Final = 16
MOST_MICROBATCHES: Final = 32
CODE: Final = """
stages, microbatches, virtual = {stages}, {batches}, {virtual}  # virtual stages of a device

waiting = (stages - 1) / (virtual * microbatches + stages - 1)
print(f"each stage waits {{waiting:.1%}} of the time")
"""


def links(case: Case) -> Shown:
    """Show what each link takes in a step, beside compute at half of the peak."""
    note_lengths(case)
    compute = _compute(case)
    view = LinkView(
        seconds=exposed_seconds(case.spec, case.recipe, case.cluster),
        links={axis: group(case.cluster, axis).link_name for axis in get_args(Axis)},
        compute=compute,
    )
    fits = training_budget(case.spec, case.recipe, case.cluster).fits
    numbers = {_("Communication time"): view.seconds, _("Compute"): compute}
    return Shown(
        headline=if_fitted(_links_sentence(case, view), fits=fits),
        charts=[Chart(picture=links_picture(view, look()), file_name="links")],
        numbers=[(if_fitted(label, fits=fits), item) for label, item in numbers.items()],
        notes=[
            *_all_reduce_said(case.cluster),
            *_ring_said(case.cluster.context),
            _bars_said(case.cluster.overlap),
        ],
        code=case.code,
    )


def _compute(case: Case) -> Item:
    """Return the time of the products of a step, recomputed ones with them."""
    tokens = case.cluster.data * case.recipe.num_tokens * case.recipe.accumulation
    time = training_time(case.spec, case.recipe, case.cluster, tokens, REACHED)
    parts = [part for part in time.children if part.name in ("compute", "extra work")]
    return total("compute", parts, source=parts[0].source) if len(parts) > 1 else parts[0]


def _links_sentence(case: Case, view: LinkView) -> str:
    """Return what a device of the slowest stage sends, and how long that and compute take."""
    sent = sum(
        line.values["num_bytes"] for line in view.seconds.walk() if line.rule and line.values
    )
    values = {
        "size": look().format_bytes(sent),
        "seconds": format_seconds(view.seconds.amount),
        "compute": format_seconds(view.compute.amount),
    }
    if not sent:
        return _("One device sends nothing: {compute} of compute in a step").format(**values)
    if case.cluster.pipeline == 1:
        return _(
            "In a step a device sends {size}: {seconds} of communication, {compute} of compute"
        ).format(**values)
    return _(
        "In a step a device of the slowest stage sends {size}: {seconds} of communication, "
        "{compute} of compute"
    ).format(**values)


def _all_reduce_said(cluster: Cluster) -> list[str]:
    """Return what an all-reduce of the tensor ranks consists of, and how much each rank sends."""
    if cluster.tensor == 1:
        return []
    said = (
        _(
            "Sequence parallelism takes the all-reduce over the {ranks} tensor-parallel ranks "
            "apart, into its reduce-scatter and its all-gather: each rank still sends {times} "
            "times the array, 2 (N − 1)/N."
        )
        if cluster.sequence_parallel
        else _(
            "An all-reduce over the {ranks} tensor-parallel ranks is a reduce-scatter and then an "
            "all-gather: each rank sends {times} times the array, 2 (N − 1)/N."
        )
    )
    return [said.format(ranks=cluster.tensor, times=f"{times_sent(cluster.tensor):.4g}")]


def _ring_said(num_ranks: int) -> list[str]:
    """Return how attention is shared by context-parallel ranks, and why in two chunks each."""
    if num_ranks == 1:
        return []
    uneven = max(causal_work(num_ranks, in_zigzag=False)) * num_ranks
    said = _(
        "Ring attention: keys and values of the {ranks} context-parallel ranks go round, {hops} "
        "hops in each layer and pass. Each rank has one chunk from the front and one from the back "
        "of the sequence (zigzag), so that all compute equally much; of contiguous pieces the last "
        "rank would compute {times} times the mean."
    )
    return [said.format(ranks=num_ranks, hops=num_ranks - 1, times=f"{uneven:.3g}")]


def _bars_said(overlap: float) -> str:
    """Return what the bars of the links are."""
    said = _(
        "Bars are the data sheet's bandwidth; the thin lines reach to what small messages "
        "make of it. Compute is at {reached} of the peak."
    ).format(reached=format_percent(REACHED))
    if not overlap:
        return said
    hidden = _("Of all communication {share} is hidden behind compute and not drawn.")
    return f"{said} {hidden.format(share=format_percent(overlap))}"


def schedule(case: Case) -> Shown:
    """Show who works when in a pipeline, and the bubble."""
    note_lengths(case)
    stages, batches = case.cluster.pipeline, case.recipe.accumulation
    virtual = case.cluster.virtual_stages
    compute = _compute(case)  # first: without a peak there is nothing to show
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
    """Return how long a stage waits."""
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
