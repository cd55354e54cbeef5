"""DDP, ZeRO and FSDP side by side, and the programs that run on two ranks."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from core.budget.item import hedged
from core.budget.parallel.sharding import STRATEGIES, Sharding, shardings
from core.figures.budget.frames import lying_bars, text_size
from core.figures.budget.stacked_parts import (
    Bars,
    capacity_line,
    legend_below,
    parts_table,
    stack,
    write_beside,
)
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.units import format_seconds
from pages.plan.parallelism.inputs import ASK, Case
from pages.plan.parallelism.programs import show_program
from pages.plan.parallelism.question import ask_about_the_ring
from pages.shared.plan.plan import note_length
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

ZERO: Final = ("ddp", "zero1", "zero2", "zero3")
_ROW_HEIGHT: Final = {False: 4.7, True: 3.0}  # of the text's size
_BESIDE: Final = {False: 8, True: 5}  # times the text's size, beside the longest bar: what is sent
_FARTHEST: Final = 1.8  # times the longest bar: a capacity beyond is not drawn


def sharding_picture(ways: Sequence[Sharding], capacity: float, chosen: str, look: Look) -> Picture:
    """Return DDP, ZeRO and FSDP side by side: states of a device, and what it sends for that.

    The line of the device's capacity is drawn where it is not far beyond the bars; the name of the
    way `chosen` is bold.
    """
    drawing, bars = Drawing(), _way_bars(ways, chosen)
    stack(drawing, bars, look, flat=True)
    room: float = max(way.held.amount for way in ways)
    if capacity < _FARTHEST * room:
        room = max(room, capacity)
        text = _("device: {size}").format(size=look.format_bytes(capacity))
        capacity_line(drawing, capacity, text, look, flat=True, longest=room)
    for (label, _parts), way in zip(bars, ways, strict=True):
        note = f" {look.format_bytes(way.held.amount)}"
        note += "" if look.present else _sent_lines(way, look)  # large letters have no room
        write_beside(drawing, way.held.amount, label, note, look)
    names = [label.replace(" (", "<br>(").replace("（", "<br>（") for label, _parts in bars]
    size = text_size(look)
    figure = lying_bars(
        drawing,
        look,
        room=room,
        height=round(len(ways) * size * _ROW_HEIGHT[look.present]) + 6 * size,
        top=2 * size,
        right=_BESIDE[look.present] * size,
        y={"tickvals": [label for label, _parts in bars], "ticktext": names},
        legend=legend_below(look),
        barmode="stack",
        bargap=0.35,
    )
    name_and_size = _("{name} {size}")
    held = [
        name_and_size.format(name=_(STRATEGIES[way.key]), size=look.format_bytes(way.held.amount))
        for way in ways
    ]
    alt = _("Weights, gradients and optimizer states on one device: {parts}.").format(
        parts=_(", ").join(held)
    )
    return Picture(figure=figure, alt=alt, table=_sharding_table(ways, look))


def _way_bars(ways: Sequence[Sharding], chosen: str = "") -> Bars:
    names = {way.key: _(STRATEGIES[way.key]) for way in ways}
    bold = {key: f"<b>{name}</b>" if key == chosen else name for key, name in names.items()}
    return [(bold[way.key], way.held.children) for way in ways]


def _sent_lines(way: Sharding, look: Look) -> str:
    size = _("sends {size}").format(size=look.format_bytes(way.sent.amount))
    return f"<br> {size}<br> " + _("in {time}").format(time=format_seconds(way.seconds.amount))


def sent_text(way: Sharding, look: Look) -> str:
    """Return what a way sends in a step and how long that takes."""
    return _("sends {size} in {time}").format(
        size=look.format_bytes(way.sent.amount), time=format_seconds(way.seconds.amount)
    )


def _sharding_table(ways: Sequence[Sharding], look: Look) -> Table:
    return {
        **parts_table(_way_bars(ways), look, _("way")),
        _("sent in a step"): [look.format_bytes(way.sent.amount) for way in ways],
        _("communication time"): [format_seconds(way.seconds.amount) for way in ways],
    }


def choose_program() -> str:
    return ASK.segmented("card", _("Program"), {"ddp": "DDP", "fsdp2": "FSDP2"}, default="ddp")


def sharding(case: Case, card: str) -> Shown:
    note_length(case.chosen, "train")
    ways = shardings(case.spec, case.recipe, case.cluster)
    chosen = ZERO[case.cluster.zero_stage]
    held = next(way for way in ways if way.key == chosen).held
    picture = sharding_picture(ways, case.cluster.device.memory_usable, chosen, look())
    return Shown(
        headline=_sharding_sentence(ways, case.cluster.weight_ranks),
        charts=[Chart(picture=picture, file_name="sharding")],
        numbers=[
            (_("weights"), held.child("weights")),
            (_("gradients"), held.child("gradients")),
            (_("optimizer"), held.child("optimizer")),
        ],
        below=partial(show_program, card),
        code=case.code,
    )


def _sharding_sentence(ways: Sequence[Sharding], num_replicas: int) -> str:
    """Return what DDP and FSDP2 hold and send; one replica has nobody to share with."""
    by_key = {way.key: way for way in ways}
    if num_replicas == 1:
        return _("One replica has nobody to share with: {size} of states in every way").format(
            size=_held(by_key["ddp"])
        )
    parts = [
        _("{way} {size}, {sent}").format(
            way=name, size=_held(by_key[key]), sent=sent_text(by_key[key], look())
        )
        for key, name in (("ddp", "DDP"), ("zero3", "FSDP2"))
    ]
    return _("States of one device: {parts}").format(parts=_("; ").join(parts))


def _held(way: Sharding) -> str:
    return hedged(look().format_bytes(way.held.amount), way.held)


TAB: Final = Tab(
    label=N_("DDP and FSDP"), show=sharding, choose=choose_program, question=ask_about_the_ring
)
