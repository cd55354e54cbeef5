"""Who reads what: an epoch shuffled, cut into batches and dealt to ranks."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.figures.train.data_and_batches.ranks import ranks_picture
from core.language import _
from core.train.text.batch_plan import BatchPlan, plan_batches
from core.units import format_exact
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown
from pages.train.data_and_batches.inputs import ASK

MAX_ITEMS: Final = 2000
EPOCHS: Final = (0, 1)
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


def choose_ranks() -> Dealt:
    """Show the sizes and switches and return the plans of two epochs."""
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


def ranks_tab(dealt: Dealt) -> Shown:
    """Draw who reads what in two epochs and say how many batches there are."""
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
