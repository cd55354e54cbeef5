"""Between NumPy and PyTorch: who sees a write, what a Tensor does more, and an `if` in a graph."""

from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.tensors.examples import titles
from core.tensors.numpy_bridge import (
    BRIDGES,
    MOST_ROWS,
    Bridge,
    Crossed,
    Difference,
    TracedIf,
    cross,
    differences,
    trace_an_if,
)
from pages.shared.charts import show_table
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Part, Shown, Tab
from pages.shared.tensors.program import show_verbatim
from pages.tensors.indexing_and_sharing.inputs import ASK
from pages.tensors.indexing_and_sharing.maps import all_cases, aside, show_map

DIFFERENCES: Final = "differences"
GRAPH: Final = "graph"
_CODE_OF_DIFFERENCES: Final = """
import numpy as np
import torch

x = torch.tensor([3.0], requires_grad=True)
(x**2).backward()
print("gradient:", x.grad)
print("device:", torch.zeros(3, device="meta").device)
print("bfloat16:", torch.tensor([0.1], dtype=torch.bfloat16))
print("default dtypes:", np.array([0.1]).dtype, torch.tensor([0.1]).dtype)
print(torch.fx.symbolic_trace(lambda x: torch.sin(x)).graph)
for attempt in (
    lambda: (np.array([3.0]) ** 2).backward(),
    lambda: np.zeros(3, device="meta"),
    lambda: np.array([0.1]).astype(np.bfloat16),
):
    try:
        attempt()
    except (AttributeError, TypeError, ValueError) as error:
        print(type(error).__name__, error)
"""
_CODE_OF_GRAPH: Final = """
import torch
from torch.fx.experimental.proxy_tensor import make_fx


def f(x):
    if x.shape[0] > 2:
        return x * 2
    return x - 1


graph = make_fx(f)(torch.ones({rows}))
print(graph.code.strip())
for rows in range(1, 6):
    print(rows, f(torch.ones(rows))[0].item(), graph(torch.ones(rows))[0].item())
"""

OUTCOMES = {"shares": N_("shares memory"), "copies": N_("copies"), "refused": N_("refused")}


_differences = st.cache_data(max_entries=1, show_spinner=False)(differences)
_traced = st.cache_data(max_entries=8, show_spinner=False)(trace_an_if)


def choose_bridge() -> Bridge | TracedIf | None:
    """Show the ways between NumPy and PyTorch, the five differences and the graph; return one."""
    names = titles(BRIDGES)
    names |= {DIFFERENCES: _("Five differences"), GRAPH: _("An if in a graph")}
    key = ASK.selectbox(
        "bridge", _("Case"), tuple(names), default="from_numpy", labels=names.__getitem__
    )
    if key == GRAPH:
        rows = ASK.slider(
            "traced", _("Rows that it is traced with"), 1, MOST_ROWS, default=4, step=1
        )
        return _traced(rows)
    return BRIDGES.get(key)


def tensor_and_numpy(chosen: Bridge | TracedIf | None) -> Shown:
    if isinstance(chosen, Bridge):
        return between_numpy(chosen)
    return of_five_differences(_differences()) if chosen is None else of_a_graph(chosen)


def of_five_differences(found: Sequence[Difference]) -> Shown:
    message = _("A Tensor can do all {count}; an ndarray fails {failed} and defaults to {dtype}")
    return Shown(
        headline=message.format(
            count=len(found),
            failed=sum(each.ndarray.failed for each in found),
            dtype=next(each.ndarray.says for each in found if not each.ndarray.failed),
        ),
        charts=[Chart(picture=differences_picture(found, look()), file_name="tensor-ndarray")],
        below=None if presenting() else partial(_show_programs, found),
        code=_CODE_OF_DIFFERENCES,
    )


def _show_programs(found: Sequence[Difference]) -> None:
    for each in found:
        st.markdown(f"**{_(each.title)}**")
        for place, answer in zip(st.columns(2), (each.ndarray, each.tensor), strict=True):
            place.code(answer.code, language="python")
            place.code(answer.says, language=None, wrap_lines=True)


def of_a_graph(traced: TracedIf) -> Shown:
    wrong = [str(n) for n in traced.eager if traced.eager[n] != traced.traced[n]]
    message = _("Traced with {rows} rows, the graph keeps one branch: wrong for {wrong} rows")
    note = _(
        "Eager: Python runs line by line and decides at every call. A traced graph holds the "
        "operations of one run, and no `if`. An `if` on values is refused: {refusal}."
    )
    return Shown(
        headline=message.format(rows=traced.traced_with, wrong=_(", ").join(wrong)),
        charts=[Chart(picture=traced_picture(traced, look()), file_name="traced-if")],
        notes=aside([note.format(refusal=f"`{traced.refusal}`")]),
        below=None if presenting() else partial(_show_function, traced),
        code=_CODE_OF_GRAPH.format(rows=traced.traced_with),
    )


def _show_function(traced: TracedIf) -> None:
    for place, code in zip(st.columns(2), (traced.source, traced.graph), strict=True):
        place.code(code, language="python")


def differences_picture(found: Sequence[Difference], look: Look) -> Picture:
    """Return a row for each thing tried: on the left the ndarray, on the right the Tensor."""
    drawing, layout, titles = Drawing(), look.layout(), [_(each.title) for each in found]
    answers = [(each.ndarray, each.tensor) for each in found]
    marks = [(each.ndarray_has_it, not each.tensor.failed) for each in found]
    drawing.trace(
        "heatmap",
        x=["ndarray", "Tensor"], y=titles, xgap=4, ygap=4, showscale=False, zmin=0, zmax=1,
        z=[[int(mark) for mark in pair] for pair in marks],
        text=[
            [_cell(answer.says, failed=answer.failed, mark=mark, look=look)
             for answer, mark in zip(*pair, strict=True)]
            for pair in zip(answers, marks, strict=True)
        ],
        texttemplate="%{text}",
        colorscale=[[0, look.color("refused")], [1, look.color("works")]],
        textfont={"color": look.color("background"), "size": layout["font"]["size"]},
        customdata=[[answer.code.replace("\n", "<br>") for answer in pair] for pair in answers],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip
    failed = [title for title, each in zip(titles, found, strict=True) if each.ndarray.failed]
    alt = _("Of {count} programs an ndarray fails at {failed}.").format(
        count=len(found), failed=_(", ").join(failed)
    )
    axes = {"xaxis": {"side": "top", "showgrid": False},
            "yaxis": {"autorange": "reversed", "showgrid": False}}  # fmt: skip
    table = {
        _("what"): titles,
        "ndarray": [pair[0].says for pair in answers],
        "Tensor": [pair[1].says for pair in answers],
    }
    return Picture(figure=drawing.figure(_framed(look, axes)), alt=alt, table=table)


def _cell(says: str, *, failed: bool, mark: bool, look: Look) -> str:
    """Return the kind of an error, or a value; of one of several lines the first and the last."""
    first, *more = says.splitlines()
    value = f"{first.rstrip(':')} … {more[-1].strip()}" if more else first
    word, most = first.partition(":")[0] if failed else value, 15 if look.present else 24
    short = word if len(word) <= most else word[: most - 1] + "…"
    return ("✓ " if mark else "✗ ") + short


def traced_picture(traced: TracedIf, look: Look) -> Picture:
    """Return what a function with an `if` returns, and what its graph returns, by rows."""
    drawing, rows = Drawing(), list(traced.eager)
    for name, values, color, symbol in (
        (_("Python, eagerly"), traced.eager, "forward", "circle"),
        (_("traced graph"), traced.traced, "backward", "x"),
    ):
        drawing.scatter(
            x=rows, y=list(values.values()), name=name, mode="lines+markers",
            marker={"size": 14, "symbol": symbol}, line={"color": look.color(color), "width": 3},
        )  # fmt: skip
    drawing.shape(
        type="line", xref="x", yref="paper", x0=traced.traced_with, x1=traced.traced_with, y0=0,
        y1=1, line={"color": look.color("muted"), "width": 2, "dash": "dot"},
    )  # fmt: skip
    wrong = [str(n) for n in rows if traced.eager[n] != traced.traced[n]]
    alt = _("Traced with {rows} rows, the graph differs from Python with {wrong} rows.").format(
        rows=traced.traced_with, wrong=_(", ").join(wrong) or "0"
    )
    axes: dict[str, dict[str, object]] = {
        "xaxis": {"title": {"text": _("rows of x")}, "dtick": 1},
        "yaxis": {"title": {"text": "f(x)[0]"}},
    }
    table: Table = {
        _("rows of x"): rows,
        _("Python, eagerly"): list(traced.eager.values()),
        _("traced graph"): list(traced.traced.values()),
    }
    return Picture(figure=drawing.figure(_framed(look, axes)), alt=alt, table=table)


def _framed(look: Look, axes: dict[str, dict[str, object]]) -> dict[str, object]:
    layout = look.layout()
    return layout | {
        "height": 380 if look.present else 340,
        "margin": {"l": 8, "r": 8, "t": 2.8 * layout["font"]["size"], "b": 8},
        **{name: {**layout[name], "zeroline": False, "fixedrange": True, **axis}
           for name, axis in axes.items()},
    }  # fmt: skip


def between_numpy(row: Bridge) -> Shown:
    """Run a case, draw array and tensor after the write, or show what was refused."""
    crossed = cross(row)
    part = _map_of(crossed)
    show_verbatim(_told(row, crossed))
    if not presenting():
        all_cases("bridges", lambda: _show_table([(row, cross(row)) for row in BRIDGES.values()]))
    return Shown(
        headline=_headline(row, crossed),
        part=part,
        notes=aside(_notes(crossed)),
        code=_snippet(row),
    )


def _map_of(crossed: Crossed) -> Part | None:
    if crossed.trace is None:
        return None
    written = crossed.shape if crossed.changed else ()
    index = [0 for _length in written]
    return show_map(crossed.trace, "bridge", changed=crossed.changed, index=index)


def _told(row: Bridge, crossed: Crossed) -> str:
    made = "a" if row.from_torch else "t"
    lines = [row.first, f"{made} = {row.code}"]
    if crossed.changed:
        lines += ["a.flat[0] = 100", f"t.flatten()[0]  # {crossed.seen:.4g}"]
    return "\n".join([*lines, *filter(None, [crossed.error, crossed.warning])])


def _headline(row: Bridge, crossed: Crossed) -> str:
    if crossed.outcome == "refused":
        kind = crossed.error.partition(":")[0]
        return _("`{code}` is refused: {kind}").format(code=row.code, kind=kind)
    values = {"code": row.code, "dtype": crossed.dtype, "stride": crossed.stride}
    if crossed.warning:
        return _("`{code}` shares read-only memory: {dtype}, stride {stride}").format(**values)
    if crossed.outcome == "shares":
        told = _("`{code}` shares memory: t is {dtype} and sees every write into a")
        return told.format(**values)
    return _("`{code}` copies: t is {dtype} and sees no write into a").format(**values)


def _notes(crossed: Crossed) -> list[str]:
    if crossed.warning:
        return [_("A write through the tensor would change an array that is read-only.")]
    if crossed.changed:
        return [_("The first element of a was set to 100; a marked corner shows where.")]
    return []


def _show_table(rows: Sequence[tuple[Bridge, Crossed]]) -> None:
    show_table(
        {
            _("Given"): [f"`{row.first}`" for row, _crossed in rows],
            _("Call"): [f"`{row.code}`" for row, _crossed in rows],
            _("What it is"): [_(OUTCOMES[crossed.outcome]) for _row, crossed in rows],
            "dtype": [crossed.dtype for _row, crossed in rows],
            _("Stride"): [str(crossed.stride) if crossed.dtype else "" for _row, crossed in rows],
            _("What PyTorch says"): [
                f"`{words}`" if (words := crossed.error or crossed.warning) else ""
                for _row, crossed in rows
            ],
        }
    )


def _snippet(row: Bridge) -> str:
    made = "a" if row.from_torch else "t"
    return f"""
import numpy as np
import torch

{row.first}
try:
    {made} = {row.code}
    a.flat[0] = 100
    print(t.dtype, t.stride(), "shares" if t.flatten()[0] == 100 else "copies")
except (TypeError, ValueError, RuntimeError) as error:
    print(type(error).__name__, error)
"""


TAB: Final = Tab(label=N_("Tensor and NumPy"), show=tensor_and_numpy, choose=choose_bridge)
