"""A slice beside a list of indices: which is a view, which copies, and what NumPy does."""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from core.language import N_, _
from core.tensors.examples import titles
from core.tensors.index_pairs import PAIRS, SLICE, Made, Pair, Way, in_numpy, in_torch, slice_pair
from pages.shared.charts import show_table
from pages.shared.settings import presenting
from pages.shared.tabbed_page import Part, Shown, Tab
from pages.shared.tensors.program import show_verbatim
from pages.shared.tensors.table_cells import kind_text, size_text
from pages.tensors.indexing_and_sharing.inputs import ASK
from pages.tensors.indexing_and_sharing.maps import all_cases, aside, show_map

NUM_COLUMNS: Final = 6  # of the matrix that is sliced
_SNIPPET = """
import torch

x = torch.arange({size}, dtype=torch.float32).view({shape})
for code in ({first!r}, {second!r}):
    try:
        y = eval(code)
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        print(code, "is refused:", error)
        continue
    is_view = y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    num_bytes = 0 if is_view else y.untyped_storage().nbytes()
    print(code, "view" if is_view else "copy", tuple(y.shape), y.stride(), num_bytes, "B")
"""


def choose_pair() -> Pair:
    """Show the pairs, and for the first of them the ends of a slice; return the pair."""
    names = {SLICE: _("Slice and list")} | titles(PAIRS)
    key = ASK.selectbox("pair", _("Case"), tuple(names), default=SLICE, labels=names.__getitem__)
    if key != SLICE:
        return PAIRS[key]
    start = ASK.slider("start", "start", 0, NUM_COLUMNS, default=0, step=1)
    stop = ASK.slider("stop", "stop", 0, NUM_COLUMNS, default=5, step=1)
    step = ASK.slider("step", "step", 1, NUM_COLUMNS, default=2, step=1)
    return slice_pair(NUM_COLUMNS, start, stop, step)


def view_or_copy(pair: Pair) -> Shown:
    found = [in_torch(way, pair.shape) for way in pair.ways]
    both = Part(key=ASK.key("pair_drawn"), file_name="view-or-copy")
    columns = st.container(key=both.key).columns(2, gap="medium")
    for name, column, way, made in zip(("first", "second"), columns, pair.ways, found, strict=True):
        with column:
            if made.trace:
                show_map(made.trace, name)
            if made.refusal:
                show_verbatim(f"{way.torch}\n{made.refusal}")
    if not presenting():
        _show_ways([(pair, way) for way in pair.ways])
        every = [(each, way) for each in PAIRS.values() for way in each.ways]
        all_cases("pairs", lambda: _show_ways(every))
    return Shown(
        headline=_headline(pair, found),
        part=both,
        notes=aside(_notes(pair, found)),
        code=_snippet(pair),
    )


def _headline(pair: Pair, found: Sequence[Made]) -> str:
    for way, made in zip(pair.ways, found, strict=True):
        other = in_numpy(way, pair.shape).shape
        if made.kind and made.shape != other:
            told = _("`{code}` copies {size} and has the shape {shape}, in NumPy {numpy}")
            size = size_text(made.num_bytes_copied)
            return told.format(code=way.torch, size=size, shape=made.shape, numpy=other)
    parts = [_verdict(way, made) for way, made in zip(pair.ways, found, strict=True)]
    return _("{first}; {second}").format(first=parts[0], second=parts[1])


def _verdict(way: Way, made: Made) -> str:
    if made.kind is None:
        return _("`{code}` is refused").format(code=way.torch)
    if made.kind == "copy":
        size = size_text(made.num_bytes_copied)
        return _("`{code}` copies {size}").format(code=way.torch, size=size)
    return _("`{code}` is a view, 0 B").format(code=way.torch)


def _notes(pair: Pair, found: Sequence[Made]) -> list[str]:
    notes = []
    for way, made in zip(pair.ways, found, strict=True):
        other = in_numpy(way, pair.shape)
        if other.kind and made.kind != other.kind:
            told = _("In NumPy, `{code}` is a {kind} with the strides {stride}, in elements.")
            kind = kind_text(other.kind)
            notes.append(told.format(code=way.numpy, kind=kind, stride=other.stride))
    return notes


def _show_ways(rows: Sequence[tuple[Pair, Way]]) -> None:
    made = [in_torch(way, pair.shape) for pair, way in rows]
    other = [in_numpy(way, pair.shape) for pair, way in rows]
    show_table(
        {
            "x": [str(pair.shape) for pair, _way in rows],
            "PyTorch": [f"`{way.torch}`" for _pair, way in rows],
            _("What it is"): [_kind(each) for each in made],
            _("Shape"): [_or_none(each, each.shape) for each in made],
            _("Stride"): [_or_none(each, each.stride) for each in made],
            _("Copied"): [size_text(each.num_bytes_copied) for each in made],
            "NumPy": [f"`{way.numpy}`" for _pair, way in rows],
            _("In NumPy"): [f"{_kind(each)} {each.shape}" for each in other],
            _("Same in both"): [
                "✓" if (one.kind, one.shape) == (two.kind, two.shape) else "≠"
                for one, two in zip(made, other, strict=True)
            ],
        }
    )


def _kind(made: Made) -> str:
    return kind_text(made.kind) if made.kind else _("refused")


def _or_none(made: Made, numbers: tuple[int, ...]) -> str:
    return str(numbers) if made.kind else "–"


def _snippet(pair: Pair) -> str:
    size = " * ".join(map(str, pair.shape))
    first, second = (way.torch for way in pair.ways)
    return _SNIPPET.format(size=size, shape=pair.shape, first=first, second=second)


TAB: Final = Tab(label=N_("View or copy"), show=view_or_copy, choose=choose_pair)
