"""The depth of a GPT: a text that is typed, what each block would say, and who looks at whom."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import streamlit as st

from core.language import N_, _
from core.models.depth import Depth
from core.units import in_percent
from pages.shared.settings import locked, presenting

_FOLDER: Final = Path(__file__).parent
# One script for the browser: each part uses the ones before it.
_SCRIPTS: Final = (
    "../svg/node.js",
    "../svg/file.js",
    "../computation_graph/shapes.js",
    "scene.js",
    "gpt_depth.js",
)
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
    "svg": "SVG",
    "svg_label": N_("Save the picture as SVG"),
    "png": "PNG",
    "png_label": N_("Save the picture as PNG"),
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


def depth_words() -> dict[str, str]:
    """Return the words of the picture; some hold names in braces."""
    return {name: _(text) for name, text in WORDS.items()} | {"percent": in_percent("{number}")}


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


_mount = st.components.v2.component(
    "gpt_depth",
    html=_read("gpt_depth.html"),
    css=_read("gpt_depth.css"),
    js="\n".join(map(_read, _SCRIPTS)),
)


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
    """Show the picture of one model, or of two side by side.

    Args:
        panels: The models; none while there is no token.
        token_ids: What they read.
        signs: Token id -> a visible sign, for all that the panels show.
        typed: What the reader has typed and pointed at.
        key: The key of this part on its page.
        on_choice: Called with ("text", text), ("at", number or "") and ("layer", number from 1).
        room: Height of the picture in pixels.
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
        "words": depth_words(),
        "present": presenting(),
    }

    def told() -> None:
        choices = st.session_state[key]["told"]
        for name, value in choices.items() if isinstance(choices, Mapping) else ():
            on_choice(str(name), value)

    # Streamlit loads pandas to look into a dict, but not into a list.
    _mount(key=key, data=[data], height="content", on_told_change=told)
