"""What each link takes in a step, beside compute."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, get_args

from core.budget.cluster import Cluster
from core.budget.item import Item, total
from core.budget.parallel.communication import AXIS_NAMES, exposed_seconds
from core.budget.parallel.context import causal_work
from core.budget.parallel.ranks import Axis, group
from core.budget.parallel.ring import times_sent
from core.budget.training.duration import training_time
from core.budget.training.memory import training_budget
from core.figures.budget.frames import lying_bars, text_size
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.units import format_bytes, format_percent, format_seconds
from pages.plan.parallelism.inputs import Case
from pages.shared.answer import if_fitted
from pages.shared.plan.plan import note_length
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

_ROW_HEIGHT: Final = 2.0  # of the text's size
_LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    "data": ("gradients", ""),
    "expert data": ("gradients", "/"),
    "tensor": ("weights", ""),
    "context": ("kv_cache", ""),
    "pipeline": ("optimizer", ""),
    "expert": ("activations", ""),
    "compute": ("other", ""),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkView:
    """What the picture of the links shows."""

    seconds: Item  # the tree of `exposed_seconds`, axis by axis
    links: Mapping[Axis, str]  # axis -> message id of the link that is used
    compute: Item  # seconds of compute in a step


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    axis: str
    label: str
    item: Item
    text: str


def links_picture(view: LinkView, look: Look) -> Picture:
    """Return one bar a collective, with its band; compute comes first."""
    rows, size = list(_rows(view, look)), text_size(look)
    drawing = Drawing()
    drawing.bar(
        orientation="h", y=[row.label for row in rows], x=[row.item.amount for row in rows],
        marker={
            "color": [look.color(_LOOKS[row.axis][0]) for row in rows],
            "pattern": {"shape": [_LOOKS[row.axis][1] for row in rows]},
        },
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [row.item.drawn_high - row.item.amount for row in rows],
            "arrayminus": [row.item.amount - row.item.low for row in rows],
            "color": look.color("muted"),
        },
        customdata=[row.text for row in rows], hovertemplate="%{y}: %{customdata}<extra></extra>",
    )  # fmt: skip
    for row in rows:
        drawing.note(x=row.item.drawn_high, y=row.label, xanchor="left", text=f" {row.text}")
    figure = lying_bars(
        drawing,
        look,
        room=1.9 * (max(row.item.drawn_high for row in rows) or 1.0),
        height=round(len(rows) * size * _ROW_HEIGHT) + 3 * size,
        top=8,
        showlegend=False,
        bargap=0.4,
    )
    return Picture(figure=figure, alt=_links_alt(rows), table=_links_table(rows))


def _rows(view: LinkView, look: Look) -> Iterator[_Row]:
    compute = format_seconds(view.compute.amount)
    yield _Row(axis="compute", label=_("compute"), item=view.compute, text=compute)
    names = {AXIS_NAMES[axis]: axis for axis in AXIS_NAMES}
    for way in view.seconds.children:
        axis = names[way.name]
        for line in way.children:
            text = _("{seconds}: {size}, {link}, {speed}/s").format(
                seconds=format_seconds(line.amount),
                size=look.format_bytes(line.values["num_bytes"]),
                link=_(view.links[axis]),
                speed=format_bytes(line.values["bytes_per_second"], "GB"),
            )
            yield _Row(axis=axis, label=_(line.name), item=line, text=text)


def _links_alt(rows: Sequence[_Row]) -> str:
    if len(rows) == 1:
        return _("One device sends nothing; it computes for {seconds} in a step.").format(
            seconds=rows[0].text
        )
    return _("Communication time of a step on each link: {parts}.").format(
        parts=_("; ").join(f"{row.label} {row.text}" for row in rows)
    )


def _links_table(rows: Sequence[_Row]) -> Table:
    return {
        _("what"): [row.label for row in rows],
        _("least"): [format_seconds(row.item.low) for row in rows],
        _("seconds"): [format_seconds(row.item.amount) for row in rows],
        _("most"): ["?" if row.item.high == inf else format_seconds(row.item.high) for row in rows],
        _("how"): [row.text for row in rows],
    }


REACHED: Final = 0.5  # of the peak, while products run


def links(case: Case) -> Shown:
    """Show what each link takes in a step, beside compute at half of the peak."""
    note_length(case.chosen, "train")
    compute = compute_of_a_step(case)
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


def compute_of_a_step(case: Case) -> Item:
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
    said = _(
        "Bars are the data sheet's bandwidth; the thin lines reach to what small messages "
        "make of it. Compute is at {reached} of the peak."
    ).format(reached=format_percent(REACHED))
    if not overlap:
        return said
    hidden = _("Of all communication {share} is hidden behind compute and not drawn.")
    return f"{said} {hidden.format(share=format_percent(overlap))}"


TAB: Final = Tab(label=N_("Communication time"), show=links)
