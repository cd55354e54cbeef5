"""The depth of a GPT: a text that is typed, what each block would say, and who looks at whom."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import streamlit as st

from core.language import N_
from core.models.depth import Depth
from core.units import in_percent
from pages.components.part import FILE_WORDS, SVG, browser_part, translated
from pages.shared.settings import locked, presenting

_mount = browser_part(__file__, *SVG, "../computation_graph/shapes.js", "scene.js")
CHANCES: Final = 10_000  # a probability is sent as so many of these: 12.34 % is 1234
WEIGHTS: Final = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """One model in the picture."""

    title: str  # which model it is, where two stand side by side
    label: str  # the picture as a sentence
    names: Sequence[str]  # of its rows: the embedding and each block
    attention: Sequence[str]  # of the lines above each block: which layer and which heads
    inside: Depth  # the pass


def panel_row(panel: Panel, token_ids: Sequence[int]) -> dict[str, Any]:
    """Return what the browser draws of one model; token ids stand for their signs."""
    weights = np.rint(panel.inside.attention * WEIGHTS).astype(int)  # (L, T, T)
    return {
        "title": panel.title,
        "label": panel.label,
        "names": list(panel.names),
        "attention_names": list(panel.attention),
        "tokens": list(token_ids),
        "says": panel.inside.candidates.tolist(),
        "chances": np.rint(panel.inside.chances * CHANCES).astype(int).tolist(),
        "attention": [
            [row[: at + 1].tolist() for at, row in enumerate(layer)] for layer in weights
        ],
    }


def used_tokens(panels: Sequence[Panel], token_ids: Sequence[int]) -> list[int]:
    said = [panel.inside.candidates.ravel() for panel in panels]
    return [int(number) for number in np.unique(np.concatenate([np.array(token_ids), *said]))]


# Every word that the picture shows; its JavaScript holds none.
WORDS: Final = {
    "text": N_("Your text"),
    "empty": N_("Type a text here: every key runs the model."),
    "bars": N_("Next token"),
    **FILE_WORDS,
    "share": N_("“{token}” {share}"),
    "comma": N_(", "),
    "legend": N_(
        "A row: what the model would say next after this block. The stronger the color, the more "
        "likely; underlined: right."
    ),
    "sentence": N_(
        "“{token}” looks at {looks} ({attention}). After {row}, next is “{said}”, {share}."
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Typed:
    """What the reader has typed and pointed at."""

    text: str  # the text, or its end
    most: int  # characters that the browser sends; of a longer text the end
    at: int | None  # number of the token pointed at, from 0; None for the last one
    layer: int  # whose attention is drawn, from 0
    is_hidden: bool = False  # whether a link hides the field


def gpt_depth(  # noqa: PLR0913  what is shown, where, and who hears of a choice
    panels: Sequence[Panel],
    token_ids: Sequence[int],
    signs: Mapping[int, str],
    typed: Typed,
    *,
    key: str,
    on_choice: Callable[[str, object], None],
    room: int,
) -> None:
    """Show the picture of one model, of two side by side, or of none while there is no token.

    `signs` are visible ones for all token ids that the panels show. `on_choice` is called with
    ("text", text), ("at", number or "") and ("layer", number from 1). `room` is in pixels.
    """
    data = {
        "panels": [panel_row(panel, token_ids) for panel in panels],
        "signs": {str(number): sign for number, sign in signs.items()},
        "text": typed.text,
        "most": typed.most,
        "at": "" if typed.at is None else str(typed.at),
        "layer": typed.layer,
        "hidden": typed.is_hidden,
        "locked": locked(),
        "room": room,
        "words": translated(WORDS) | {"percent": in_percent("{number}")},
        "present": presenting(),
    }

    def told() -> None:
        choices = st.session_state[key]["told"]
        for name, value in choices.items() if isinstance(choices, Mapping) else ():
            on_choice(str(name), value)

    _mount(key=key, data=[data], height="content", on_told_change=told)
