"""Devices as devices: what each holds, and the bytes of a collective on their way."""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from core.budget.budget import at_peak
from core.budget.parallel.collectives import MAX_RANKS, NAMES, Collective, collectives, nodes
from core.budget.parallel.ranks import BETWEEN, INSIDE
from core.budget.training.memory import training_budget
from core.figures.budget.parallelism.moving import (
    MEANINGS,
    Rank,
    collective_name,
    heights,
    moving_sentence,
    moving_table,
    phases,
    rank_said,
    ranks_of,
    sentences,
)
from core.language import _
from pages.components.moving_bytes.moving_bytes import Device, Texts, moving_bytes, moving_rows
from pages.plan.parallelism.inputs import ASK, Case, note_lengths
from pages.shared.charts import show_table
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Part, Shown

MOST: Final = "most"
ROOM: Final = 380  # pixels of the picture
PRESENT_ROOM: Final = 400
CODE: Final = """
num_ranks, message = {num_ranks}, {message:_}  # bytes of one message
{rule}
print(f"a device sends {{sent:,}} bytes in one call, {{{times} * sent:,}} in a training step")
"""
RULES: Final = {
    "all-reduce": "sent = 2 * (num_ranks - 1) * message  # reduce-scatter, then all-gather",
    "forward": "sent = {num_messages} * message  # once for each time that a micro-batch comes by",
    "other": "sent = (num_ranks - 1) * message  # all chunks but one",
}


def choose_collective() -> str:
    """Return the name of a collective, or MOST."""
    words = {name.replace(",", "").replace(" ", "-"): name for name in NAMES}
    key = ASK.selectbox(
        "collective",
        _("Collective"),
        (MOST, *words),
        default=MOST,
        labels=lambda key: _("the one that sends most") if key == MOST else _(words[key]),
    )
    return words.get(key, MOST)


def moving(case: Case, name: str) -> Shown:
    """Show the devices of one group and let the bytes of its collective move.

    Raises:
        ValueError: If this way to divide has no such collective.
    """
    note_lengths(case)
    found = collectives(case.spec, case.recipe, case.cluster)
    if not found:
        return Shown(headline=_("One device sends nothing: no bytes move"), code=case.code)
    chosen = _find(found, name)
    if chosen.num_ranks > MAX_RANKS:
        return _too_many(case, chosen)
    _draw(case, chosen)
    return Shown(
        headline=moving_sentence(chosen, look()),
        part=Part(key=ASK.key("devices"), file_name="moving-bytes"),
        numbers=[(_("Sent in a step"), chosen.item)],
        numbers_below=True,
        below=lambda: _table(found),
        code=_code(chosen),
    )


def _find(found: Sequence[Collective], name: str) -> Collective:
    """Return the collective of that name that sends most."""
    for each in found:
        if name in (MOST, each.item.name):
            return each
    raise ValueError(
        _("Divided this way, devices have no {name}. They have: {names}.").format(
            name=_(name), names=_(", ").join(_(each.item.name) for each in found)
        )
    )


def _too_many(case: Case, chosen: Collective) -> Shown:
    """Tell the bytes of a group that is too large to be drawn."""
    st.info(
        _("{ranks} devices take part; at most {most} are drawn. Take a smaller size.").format(
            ranks=f"{chosen.num_ranks:,}", most=MAX_RANKS
        )
    )
    headline = _("{name}: {ranks} devices, each sends {whole} in a training step").format(
        name=collective_name(chosen),
        ranks=f"{chosen.num_ranks:,}",
        whole=look().format_bytes(chosen.item.amount),
    )
    return Shown(
        headline=headline,
        numbers=[(_("Sent in a step"), chosen.item)],
        numbers_below=True,
        code=case.code,
    )


def _table(found: Sequence[Collective]) -> None:
    with st.expander(_("All collectives of a training step")):
        show_table(moving_table(found, look()))


def _draw(case: Case, chosen: Collective) -> None:
    budget = training_budget(case.spec, case.recipe, case.cluster)
    stages = [at_peak(stage) for stage in budget.stages]
    ranks = ranks_of(chosen, nodes(chosen, case.cluster), stages)
    highest = max(budget.capacity, *(rank.num_bytes for rank in ranks))
    texts = Texts(
        message=look().format_bytes(chosen.num_bytes),
        phases=phases(chosen),
        sentences=list(sentences(chosen, look())),
        legend=_legend(ranks),
        capacity=_("device: {size}").format(size=look().format_bytes(budget.capacity)),
        links=(_(INSIDE), _(BETWEEN)),
    )
    devices = [_device(rank, budget.capacity, highest) for rank in ranks]
    with st.container(key=f"bound_{ASK.key('moved')}"):
        moved = ASK.text("moved", ASK.key("moved"), default="0", max_chars=4)
    turn = min(int(moved), len(chosen.turns)) if moved.isdecimal() else 0
    moving_bytes(
        moving_rows(chosen, devices, texts, budget.capacity / highest),
        key=ASK.key("devices"),
        turn=turn,
        on_turn=lambda number: ASK.write("moved", number),
        room=PRESENT_ROOM if presenting() else ROOM,
    )


def _device(rank: Rank, capacity: float, highest: float) -> Device:
    return Device(
        label=str(rank.number),
        size=look().format_bytes(rank.num_bytes),
        said=rank_said(rank, capacity, look()),
        node=rank.node,
        parts=heights(rank, highest),
    )


def _legend(ranks: Sequence[Rank]) -> list[tuple[str, str]]:
    used = {meaning for rank in ranks for meaning in rank.held}
    return [(meaning, _(name)) for meaning, name in MEANINGS.items() if meaning in used]


def _code(chosen: Collective) -> str:
    pattern = "forward" if chosen.axis == "pipeline" else chosen.pattern
    rule = RULES.get(pattern, RULES["other"])
    return CODE.format(
        num_ranks=chosen.num_ranks,
        message=chosen.num_bytes,
        rule=rule.format(num_messages=chosen.num_messages(len(chosen.turns))),
        times=chosen.times,
    )
