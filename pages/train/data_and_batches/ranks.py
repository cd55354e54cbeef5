"""Who reads what: an epoch shuffled, cut into batches and dealt to ranks; and two runs by seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.figures.budget.frames import rows_of_bars, text_size
from core.figures.picture import Drawing, Look, Picture
from core.figures.train.curves import Axes, curves_picture
from core.language import N_, _
from core.train.learning.seeds import USES, Seeds, first_difference, losses_of
from core.train.text.batch_plan import BatchPlan, plan_batches
from core.units import format_exact
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.data_and_batches.inputs import ASK
from pages.train.data_and_batches.question import ask_batches

MAX_ITEMS: Final = 2000
EPOCHS: Final = (0, 1)
VIEWS: Final = {"order": N_("Order of the items"), "seeds": N_("Seeds of two runs")}
_ONE: Final = """
import torch
from torch.utils.data import DataLoader

loader = DataLoader(range({items}), batch_size={batch}, shuffle={shuffle}, drop_last={drop},
                    generator=torch.Generator().manual_seed({seed}))
batches = [batch.tolist() for batch in loader]
print(len(batches), "batches; the first begins with", batches[0][:6] if batches else [])
"""
_SEVERAL: Final = """
from torch.utils.data import DataLoader, DistributedSampler

sampler = DistributedSampler(range({items}), num_replicas={ranks}, rank=0, shuffle={shuffle},
                             seed={seed}, drop_last={drop})
sampler.set_epoch(0)  # before every epoch: without it each has the order of epoch 0
loader = DataLoader(range({items}), batch_size={batch}, sampler=sampler, drop_last={drop})
batches = [batch.tolist() for batch in loader]
print(len(batches), "batches; the first begins with", batches[0][:6] if batches else [])
"""


FIRST: Final = {"random": 1, "numpy": 2, "torch": 3}
_SAME: Final = {
    "random": N_("random.Random: same order"),
    "numpy": N_("numpy: same noise"),
    "torch": N_("torch: same weights"),
}
_SEEDS_CODE: Final = """
import random
import numpy as np
import torch

def draw(order_seed, noise_seed, weight_seed):
    return (random.Random(order_seed).sample(range(64), 64),
            np.random.default_rng(noise_seed).normal(0, 0.1, 64).tolist(),
            torch.randn(16, generator=torch.Generator().manual_seed(weight_seed)).tolist())

first, second = draw{first}, draw{second}
for name, one, other in zip(("order", "noise", "weights"), first, second):
    print(name, "same" if one == other else "different")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dealt:
    """What the reader has chosen, and the two epochs that come of it."""

    items: int
    batch: int
    ranks: int
    shuffle: bool
    drop: bool
    calls_set_epoch: bool
    seed: int
    plans: dict[int, BatchPlan]


def choose_ranks() -> "Dealt | Again":
    """Show the sizes and switches of two epochs, or the seeds of two runs."""
    view = ASK.segmented("view", _("Show"), VIEWS, default="order")
    if view == "seeds":
        return choose_seeds()
    items = ASK.slider("items", _("Items"), 1, MAX_ITEMS, default=20, step=1)
    batch = ASK.slider("rank_batch", _("Batch size of a rank"), 1, 128, default=4, step=1)
    ranks = ASK.slider("ranks", _("Ranks (data parallel)"), 1, 4, default=2, step=1)
    calls = ASK.toggle(
        "set_epoch", _("set_epoch is called"), default=True, disabled=ranks == 1,
        help=_("DistributedSampler shuffles with seed + epoch, and does not count epochs itself."),
    )  # fmt: skip
    with st.popover(
        _("Shuffle and drop_last"), icon=":material/tune:", key=ASK.key("rank_settings")
    ):
        drop = ASK.toggle("drop_last", "drop_last", default=False)
        shuffle = ASK.toggle("shuffle", "shuffle", default=True)
        seed = ASK.number("shuffle_seed", _("Seed"), 0, 9999, default=0, step=1)
    plans = {
        epoch: plan_batches(
            items, batch, drop_last=drop, shuffle=shuffle, seed=seed, num_ranks=ranks,
            epoch=epoch if calls or ranks == 1 else 0,
        )
        for epoch in EPOCHS
    }  # fmt: skip
    return Dealt(
        items=items, batch=batch, ranks=ranks, shuffle=shuffle, drop=drop, calls_set_epoch=calls,
        seed=seed, plans=plans,
    )  # fmt: skip


def ranks_tab(dealt: "Dealt | Again") -> Shown:
    """Draw who reads what in two epochs, or the losses of two runs."""
    if isinstance(dealt, Again):
        return seeds_tab(dealt)
    template = _ONE if dealt.ranks == 1 else _SEVERAL
    return Shown(
        headline=_headline(dealt),
        charts=[Chart(picture=ranks_picture(dealt.plans, look()), file_name="batches")],
        notes=_notes(dealt),
        code=template.format(
            items=dealt.items, batch=dealt.batch, shuffle=dealt.shuffle, drop=dealt.drop,
            seed=dealt.seed, ranks=dealt.ranks,
        ),
    )  # fmt: skip


def _headline(dealt: Dealt) -> str:
    plan = dealt.plans[0]
    text = _("{items} items in batches of {size}: {steps} steps, the last with {last} items")
    said = text.format(
        items=format_exact(dealt.items), size=dealt.batch, steps=format_exact(plan.num_steps),
        last=plan.last_batch_size,
    )  # fmt: skip
    if not dealt.shuffle:
        return said
    if dealt.plans[0].order == dealt.plans[1].order and not dealt.calls_set_epoch:
        return said + _("; without set_epoch both epochs have the same order")
    return said


def _notes(dealt: Dealt) -> list[str]:
    plan, notes = dealt.plans[0], []
    if plan.num_repeated:
        notes.append(
            _("Read twice: {count}. DistributedSampler repeats items from the beginning, so that "
              "every rank has as many and none waits for the others.").format(
                count=plan.num_repeated)
        )  # fmt: skip
    if plan.num_unread:
        notes.append(
            _("Not read in this epoch: {count} items, because of drop_last. A shuffle leaves "
              "others out the next time.").format(count=plan.num_unread)
        )  # fmt: skip
    notes.append(
        _("Orange lines part the batches. Items and orders are those of torch's DataLoader and "
          "DistributedSampler.")
    )  # fmt: skip
    return notes


LINE_PX: Final = 40
MOST_LABELS: Final = 24  # items of a rank that are numbered
MOST_LINES: Final = 8


def ranks_picture(plans: Mapping[int, BatchPlan], look: Look) -> Picture:
    """Return a line of items for each rank of each epoch, cut into batches."""
    drawing, rows = Drawing(), _rows(plans)
    labels = [_("epoch {epoch}, rank {rank}").format(epoch=epoch, rank=rank)
              for epoch, rank, _batches in rows][:MOST_LINES]  # fmt: skip
    lines = [[item for batch in batches for item in batch] for _e, _r, batches in rows][:MOST_LINES]
    width = max((len(line) for line in lines), default=0)
    numbered = width <= (MOST_LABELS // 2 if look.present else MOST_LABELS)
    cells = [[*line, *[None] * (width - len(line))] for line in lines]
    drawing.trace(
        "heatmap", z=cells, y=labels, x=[place + 0.5 for place in range(width)], xgap=1, ygap=8,
        zmin=0, zmax=max((plan.num_items for plan in plans.values()), default=1),
        colorscale=[[0, look.color("surface")], [1, look.color("axis_1")]], showscale=False,
        hovertemplate="%{y}: " + _("item {number}").format(number="%{z}") + "<extra></extra>",
    )  # fmt: skip
    if numbered:
        _number(drawing, lines, labels, look)
    _cut(drawing, plans, len(lines), look)
    size = text_size(look)
    figure = rows_of_bars(
        drawing, look, num_rows=0, y={"type": "category"},
        x={"title": {"text": _("items of a rank, in order")}, "range": [0, max(width, 1)],
           "showgrid": False, "nticks": 8, "fixedrange": False},
        height=round(len(lines) * LINE_PX * (1.3 if look.present else 1)) + size * 5,
        margin={"l": 8, "r": 8, "t": size * 2, "b": 8},
    )  # fmt: skip
    return Picture(figure=figure, alt=_sentence(plans), table=_table(rows))


def _rows(plans: Mapping[int, BatchPlan]) -> list[tuple[int, int, Sequence[tuple[int, ...]]]]:
    return [
        (epoch, rank, batches)
        for epoch, plan in plans.items()
        for rank, batches in enumerate(plan.ranks)
    ]


def _number(
    drawing: Drawing, lines: Sequence[Sequence[int]], labels: Sequence[str], look: Look
) -> None:
    highest = max(max(line, default=0) for line in lines)
    for label, line in zip(labels, lines, strict=True):
        drawing.scatter(
            x=[place + 0.5 for place in range(len(line))], y=[label] * len(line), mode="text",
            text=list(map(str, line)), hoverinfo="skip", showlegend=False,
            textfont={"color": [look.color("background" if item > highest * 0.55 else "text")
                                for item in line]},
        )  # fmt: skip


def _cut(drawing: Drawing, plans: Mapping[int, BatchPlan], num_lines: int, look: Look) -> None:
    plan = next(iter(plans.values()))
    place = 0
    for batch in plan.ranks[0] if plan.num_steps <= 64 else ():
        place += len(batch)
        drawing.shape(
            type="line", x0=place, x1=place, y0=-0.5, y1=num_lines - 0.5,
            line={"color": look.color("axis_2"), "width": 3},
        )  # fmt: skip


def _sentence(plans: Mapping[int, BatchPlan]) -> str:
    epoch, plan = next(iter(plans.items()))
    return _(
        "{items} items on {ranks} ranks: each rank reads {steps} batches an epoch, the last of "
        "{last}. In epoch {epoch} rank 0 begins with the items {first}."
    ).format(
        items=f"{plan.num_items:,}",
        ranks=len(plan.ranks),
        steps=plan.num_steps,
        last=plan.last_batch_size,
        epoch=epoch,
        first=", ".join(map(str, plan.order[0][:6])) or "–",
    )


def _table(rows: Sequence[tuple[int, int, Sequence[tuple[int, ...]]]]) -> dict[str, list[object]]:
    every = [
        (epoch, rank, step, ", ".join(map(str, batch)))
        for epoch, rank, batches in rows
        for step, batch in enumerate(batches)
    ]
    heads = (_("epoch"), _("rank"), _("step"), _("items"))
    return {head: [row[place] for row in every] for place, head in enumerate(heads)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Again:
    """Two runs: the seeds of the first, and of the second."""

    first: Seeds
    second: Seeds
    num_steps: int
    changed: tuple[str, ...]


def choose_seeds() -> Again:
    same = {name: ASK.toggle(f"same_{name}", _(_SAME[name]), default=True) for name in USES}
    steps = ASK.slider("steps", _("Steps"), 8, 200, default=80, step=8)
    number = ASK.number("other_seed", _("Another seed"), 10, 9999, default=1337, step=1)
    second = {name: FIRST[name] if same[name] else number for name in USES}
    return Again(
        first=Seeds(**FIRST), second=Seeds(**second), num_steps=steps,
        changed=tuple(name for name in USES if not same[name]),
    )  # fmt: skip


@st.cache_data(max_entries=64, show_spinner=False)
def _losses(seeds: Seeds, num_steps: int) -> tuple[float, ...]:
    return losses_of(seeds, num_steps)


def seeds_tab(again: Again) -> Shown:
    first, second = (_losses(seeds, again.num_steps) for seeds in (again.first, again.second))
    axes = Axes(x=_("step"), y=_("loss"), log=True)
    curves = {_("first run"): first, _("second run"): second}
    seeds = [tuple(getattr(each, use) for use in USES) for each in (again.first, again.second)]
    return Shown(
        headline=_seeds_headline(again, first_difference(first, second)),
        charts=[Chart(picture=curves_picture(curves, axes, look()), file_name="seeds")],
        notes=[
            _("A small regression on the CPU, run twice. Python's random draws the order of the "
              "items, numpy the noise of the data, torch the weights: seeding one leaves the "
              "others as they are."),
            _("One seed for each use: then a run with other weights still sees the same data, and "
              "what differs is known. On a GPU, kernels that add in no fixed order differ in spite "
              "of seeds, unless torch.use_deterministic_algorithms(True) forbids them."),
        ],
        code=_SEEDS_CODE.format(first=seeds[0], second=seeds[1]),
    )  # fmt: skip


def _seeds_headline(again: Again, parted: int | None) -> str:
    if parted is None:
        return _("The same three seeds: all {count} losses are equal, bit for bit").format(
            count=again.num_steps
        )
    return _("Another seed for {names}: the losses differ from step {step} on").format(
        names=_(", ").join(again.changed), step=parted
    )


TAB: Final = Tab(
    label=N_("Shuffling and ranks"),
    show=ranks_tab,
    choose=choose_ranks,
    with_inputs=False,
    question=ask_batches,
)
