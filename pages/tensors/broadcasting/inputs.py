"""What the page of broadcasting asks for: two to four shapes, dragged a dimension at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

import streamlit as st

from core.language import _
from core.tensors.broadcasting import Broadcast, broadcast
from core.tensors.examples import BROADCASTS, DTYPES, titles
from core.tensors.shape_text import ABSENT, Shape, shape_in, stops_of, with_length, written_shape
from pages.shared.inputs import Inputs, stand_at
from pages.shared.settings import is_hidden, locked
from pages.shared.tensors.examples import offer_examples

ASK: Final = Inputs("broad")
START: Final = BROADCASTS["table"]
NAMES: Final = ("a", "b", "c", "d")
DIMS: Final = (-4, -3, -2, -1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What the reader chose: operands of a dtype, and how they are read."""

    case: Broadcast
    dim: int  # under the hand, counted from the right
    dtype: str


def choose_case() -> Case:
    with st.container(horizontal=True, key=ASK.key("row")):
        offer_examples(ASK, "example", titles(BROADCASTS), _settings)
        with st.popover(_("Settings"), icon=":material/tune:", key=ASK.key("settings")):
            texts = {
                name: ask_shape(name, start) for name, start in zip_longest(NAMES, START.shapes)
            }
            dtype = ASK.selectbox("dtype", "dtype", tuple(DTYPES), default="float32")
    dim = choose_dim("dim", START.dim)
    shapes = {name: shape_in(text) for name, text in texts.items() if text.strip()}
    if len(shapes) < 2:
        raise ValueError(_("Broadcasting needs at least two shapes: write 3, 1 and 1, 4."))
    drag_lengths(shapes, dim)
    return Case(case=broadcast(shapes, DTYPES[dtype].itemsize), dim=dim, dtype=dtype)


def ask_shape(name: str, start: Shape | None) -> str:
    """Ask for a shape as a text; without a start it is empty at first."""
    return ASK.text(
        name,
        _("Shape of {name}").format(name=name),
        default="" if start is None else written_shape(start),
        max_chars=40,
        help=_("Lengths with commas, such as 3, 1; () is a single number, empty is no tensor."),
    )


def choose_dim(name: str, default: int) -> int:
    return ASK.segmented(
        name,
        _("Dimension"),
        DIMS,
        default=default,
        labels=lambda dim: str(dim).replace("-", "−"),
        help=_("Counted from the right, as broadcasting aligns them: −1 is the last."),
    )


def drag_lengths(shapes: Mapping[str, Shape], dim: int) -> None:
    """Show a slider for the length of each shape in a dimension; it writes the shape's text."""
    for name, shape in shapes.items():
        if not is_hidden(ASK.page, name):
            _drag_length(name, shape, dim)


def _drag_length(name: str, shape: Shape, dim: int) -> None:
    key = f"{ASK.key(name)}_slider"
    stops = stops_of(shape, dim)
    start = stand_at(key, shape[dim] if len(shape) >= -dim else ABSENT, tuple(map(_length, stops)))

    def write() -> None:
        ASK.set(name, written_shape(with_length(shape, dim, st.session_state[key])))

    st.select_slider(
        _("Length in {name}").format(name=name),
        stops,
        key=key,
        format_func=_length,
        on_change=write,
        disabled=locked(),
        **start,
    )


def _length(length: int) -> str:
    return _("none") if length == ABSENT else str(length)


def _settings(key: str) -> dict[str, object]:
    example = BROADCASTS[key]
    texts = [*map(written_shape, example.shapes), "", "", ""]
    return {**dict(zip(NAMES, texts, strict=False)), "dim": example.dim}


def note_column(clicked: Sequence[object]) -> None:
    if clicked and clicked[0] in DIMS:
        ASK.set("dim", clicked[0])
