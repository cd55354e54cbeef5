"""Code cards: DDP, FSDP2 and torchrun, as programs that run here on two ranks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import streamlit as st

from core.budget.item import Item
from core.budget.parallel.sharding import layer_states
from core.figures.budget.parallelism.stage_bars import pair_alt, stage_figure, stage_table
from core.language import N_, _
from core.machine.ranks import NUM_RANKS, run_ranks
from core.units import format_bytes
from pages.budget.parallelism.inputs import PAGE
from pages.budget.parallelism.programs import COMMANDS, PROGRAMS
from pages.server.background import jobs
from pages.server.rate import take_turn
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode, unit_system

NUM_PARAMS: Final = 1024 * 1024  # of the layer in the programs
_PX: Final = 300
_SENTENCES: Final = {
    "ddp": N_("DDP: every rank keeps everything; gradients are all-reduced in the backward pass."),
    "fsdp2": N_(
        "FSDP2: every rank keeps its part; weights are gathered when they are used. fully_shard "
        "took the place of FullyShardedDataParallel."
    ),
    "torchrun": N_("torchrun: starts the ranks, tells each who it is, and ends all if one fails."),
}


@dataclass
class Printed:
    """What the programs printed on this server, card by card."""

    lines: dict[str, tuple[str, ...]] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def printed() -> Printed:
    """Return what was printed here."""
    return Printed()


def show_code_cards() -> None:
    """Show one card: the program, the line that starts it, and what it prints here."""
    held = {
        "DDP": layer_states(NUM_PARAMS, "fp32", 1),
        "FSDP2": layer_states(NUM_PARAMS, "fp32", NUM_RANKS),
    }
    sizes = {name: format_bytes(states.amount, unit_system()) for name, states in held.items()}
    headline(
        _(
            "A layer of 1024 × 1024 on two ranks: DDP keeps {ddp} of states on each, FSDP2 {fsdp}"
        ).format(ddp=sizes["DDP"], fsdp=sizes["FSDP2"])
    )
    card = _choose_card()
    program, picture = st.columns([3, 2])
    with program:
        st.code(COMMANDS[card], language="bash")
        st.code(PROGRAMS[card], language="python", height=260)
    with picture:
        if lines := printed().lines.get(card):
            st.code("\n".join(lines), language=None, wrap_lines=True)
        _show_states(held)


def _choose_card() -> str:
    """Show the cards and the button that runs the open one; return its key."""
    with st.container(key="parallel_cards", horizontal=True, vertical_alignment="center"):
        card = pickers.segmented(
            PAGE, "card", _("Card"), tuple(PROGRAMS), default="ddp", labels=_card_label
        )
        if not presenting():  # a projector has room for the program only
            st.caption(_(_SENTENCES[card]))
        asked = st.button(
            _("Run it here on two ranks"), key="parallel_run", icon=":material/play_arrow:"
        )
    if asked:
        _run(card)
    return card


def _show_states(held: Mapping[str, Item]) -> None:
    bars = [(name, states.children) for name, states in held.items()]
    show_chart(
        stage_figure(bars, None, unit_system(), theme_mode(), present=presenting(), height=_PX),
        key=f"{PAGE}_two_ranks",
        alt=pair_alt(bars, unit_system()),
        table=stage_table(bars, unit_system()),
        file_name="two-ranks",
    )


def _card_label(card: str) -> str:
    return {"ddp": "DDP", "fsdp2": "FSDP2", "torchrun": "torchrun"}[card]


def _run(card: str) -> None:
    with st.status(_("Two processes on 127.0.0.1, joined by gloo …")) as status:
        place = st.empty()
        try:
            take_turn("measure")
            lines = jobs().finish(
                f"ranks-{card}",
                partial(run_ranks, PROGRAMS[card]),
                lambda waiting: place.write(
                    _("{count} measurements come first …").format(count=waiting)
                    if waiting
                    else _("The ranks are at work …")
                ),
            )
        except ValueError as error:
            status.update(label=_("The ranks did not run"), state="error")
            st.write(str(error))
            return
        printed().lines[card] = lines
        status.update(label=_("Both ranks are done"), state="complete")
