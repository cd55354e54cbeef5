"""Devices as bars of what they hold, and the bytes of one collective on their way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from core.budget.parallel.collectives import (
    Collective,
    Pattern,
    Turn,
    chunks,
    held_at_first,
    parts_of_whole,
)
from core.language import N_
from pages.components.part import FILE_WORDS, SVG, browser_part, translated
from pages.shared.settings import presenting

_mount = browser_part(__file__, *SVG, "../computation_graph/shapes.js", "moves.js", "scene.js")
# Every word that the picture shows; its JavaScript holds none.
WORDS: Final = {
    "picture": N_(
        "Devices and the links between them. Arrow keys left and right go from step to step, up "
        "and down from device to device, space plays."
    ),
    "turn": N_("step {turn} of {count}: {phase}"),
    "message": N_("{size} in each message"),
    "end": N_("done"),
    "timeline": N_("Step of the collective"),
    "back": "‹",
    "back_label": N_("The step before"),
    "next": "›",
    "next_label": N_("The next step"),
    "play": "▶",
    "pause": "❚❚",
    "play_label": N_("Let the bytes move"),
    "speed": "{speed}×",
    "speed_label": N_("Speed"),
    **FILE_WORDS,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """One rank, as it is drawn."""

    label: str  # its number
    size: str  # what it holds, in words
    said: str  # a sentence about it
    node: int  # the machine that it is in
    parts: Sequence[tuple[str, float]]  # meaning of the colour -> share of its bar, from below


@dataclass(frozen=True, kw_only=True, slots=True)
class Texts:
    """What is written of a collective."""

    message: str  # the bytes of one message
    phases: Sequence[str]  # what is done in each turn
    sentences: Sequence[str]  # where it stands before the first turn and after each
    legend: Sequence[tuple[str, str]]  # meaning of a colour -> its name
    capacity: str  # what the dashed line is
    links: tuple[str, str]  # what a line inside a machine is called, and one between two


def moving_rows(
    collective: Collective, devices: Sequence[Device], texts: Texts, full: float
) -> dict[str, Any]:
    """Return what the browser draws, without what changes by the hand.

    `full` is the share of a bar's height at which a device is full.
    """
    return {
        "devices": [
            {
                "label": device.label, "size": device.size, "said": device.said,
                "node": device.node, "parts": [list(part) for part in device.parts],
            }
            for device in devices
        ],
        "full": full,
        "carried": collective.carried,
        "whole": parts_of_whole(collective.pattern, collective.num_ranks),
        "message": texts.message,
        "sentences": list(texts.sentences),
        "legend": [list(row) for row in texts.legend],
        "capacity": texts.capacity,
        "links": list(texts.links),
        "turns": [
            turn_row(turn) | {"phase": phase}
            for turn, phase in zip(collective.turns, texts.phases, strict=True)
        ],
        **start_row(collective.pattern, collective.num_ranks),
    }  # fmt: skip


def turn_row(turn: Turn) -> dict[str, Any]:
    """Return the rule of a turn as the browser takes it."""
    return {
        "shift": turn.shift, "offset": turn.offset, "adds": turn.adds, "only": turn.only,
    }  # fmt: skip


def start_row(pattern: Pattern, num_ranks: int) -> dict[str, Any]:
    """Return what ranks have at first: "all" chunks, their "own", or one rank has the only one."""
    num_chunks, held = chunks(pattern, num_ranks), held_at_first(pattern, num_ranks)
    start: str | int = "all" if all(held[0]) else "own"
    if num_chunks == 1:
        start = held.index((1,))
    return {"num_chunks": num_chunks, "start": start}


def moving_bytes(
    rows: dict[str, Any], *, key: str, turn: int, on_turn: Callable[[str], None], room: int
) -> None:
    """Show what `moving_rows` returns, `turn` turns done, in a room of so many pixels in height.

    `on_turn` is called with the number of turns that are done, once the picture rests.
    """
    data = rows | {
        "turn": turn,
        "room": room,
        "file_name": "moving-bytes",
        "words": translated(WORDS),
        "present": presenting(),
    }

    def told() -> None:
        value = st.session_state[key]["turn"]
        if value is not None:
            on_turn(str(value))

    _mount(key=key, data=[data], height="content", on_turn_change=told)
