"""What a Tensor has that an ndarray has not, tried on both; and an `if` in a traced graph."""

from functools import partial

import streamlit as st

from core.figures.models.layers_and_parameters.curves import traced_picture
from core.figures.models.layers_and_parameters.differences import differences_picture
from core.language import _
from core.tensors.against_ndarray import Answer, TracedIf, differences, trace_an_if
from pages.models.layers_and_parameters.inputs import ASK
from pages.models.layers_and_parameters.snippets import DIFFERENCES, traced_snippet
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

MOST_ROWS = 5
_differences = st.cache_data(max_entries=1, show_spinner=False)(differences)
_traced = st.cache_data(max_entries=8, show_spinner=False)(trace_an_if)


def choose_traced() -> tuple[str, int]:
    """Return what is asked about, and how many rows the graph is traced with."""
    names = {"differences": _("five differences"), "graph": _("an if in a graph")}
    topic = ASK.selectbox(
        "topic", _("Show"), tuple(names), default="differences", labels=names.__getitem__
    )
    rows = ASK.slider("rows", _("Rows that it is traced with"), 1, MOST_ROWS, default=4, step=1)
    return topic, rows


def against_ndarray(asked: tuple[str, int]) -> Shown:
    """Draw what ran and what failed, or the function and its graph; below stand the programs."""
    topic, rows = asked
    traced = _traced(rows, MOST_ROWS)
    return Shown(
        headline=_of_the_graph(traced) if topic == "graph" else _of_the_five(),
        charts=[_chart(topic, traced)],
        notes=[_note(traced)] if topic == "graph" and not presenting() else [],
        below=None if presenting() else partial(_below, traced, topic),
        code=traced_snippet(rows) if topic == "graph" else DIFFERENCES,
    )


def _chart(topic: str, traced: TracedIf) -> Chart:
    if topic == "graph":
        return Chart(picture=traced_picture(traced, look()), file_name="traced-if")
    return Chart(picture=differences_picture(_differences(), look()), file_name="tensor-ndarray")


def _of_the_five() -> str:
    found = _differences()
    failed = sum(each.ndarray.failed for each in found)
    return _(
        "A Tensor can do all {count}; an ndarray fails {failed} and defaults to {dtype}"
    ).format(
        count=len(found),
        failed=failed,
        dtype=next(each.ndarray.says for each in found if not each.ndarray.failed),
    )


def _of_the_graph(traced: TracedIf) -> str:
    wrong = [str(n) for n in traced.eager if traced.eager[n] != traced.traced[n]]
    said = _("Traced with {rows} rows, the graph keeps one branch: wrong for {wrong} rows")
    return said.format(rows=traced.traced_with, wrong=_(", ").join(wrong))


def _note(traced: TracedIf) -> str:
    return _(
        "Eager: Python runs line by line and decides at every call. A traced graph holds the "
        "operations of one run, and no `if`. An `if` on values is refused: {refusal}."
    ).format(refusal=f"`{traced.refusal}`")


def _below(traced: TracedIf, topic: str) -> None:
    if topic == "graph":
        left, right = st.columns(2)
        left.code(traced.source, language="python")
        right.code(traced.graph, language="python")
        return
    for each in _differences():
        st.markdown(f"**{_(each.title)}**")
        left, right = st.columns(2)
        _show(left, each.ndarray)
        _show(right, each.tensor)


def _show(place: st.delta_generator.DeltaGenerator, answer: Answer) -> None:
    place.code(answer.code, language="python")
    place.code(answer.says, language=None)
