"""What the graph keeps for backward: which tensors, whose memory, and when it is let go."""

from typing import Final

from core.autograd.built_graphs import GPT2_BLOCK
from core.autograd.graph import Capture, Node, Saved
from core.budget.training.one_block import block_bytes
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.units import format_bytes
from pages.autograd.computation_graph.inputs import Case
from pages.autograd.computation_graph.snippets import snippet
from pages.shared.charts import show_table
from pages.shared.page_links import show_link
from pages.shared.settings import look, presenting, unit_system
from pages.shared.tabbed_page import Chart, Shown, Tab

_NUM_TICKS: Final = 4
_KINDS = {
    "activation": N_("extra memory"),
    "parameter": N_("a parameter, alive anyway"),
    "input": N_("an input, alive anyway"),
    "packed": N_("packed, recomputed in backward"),
}


def saved(case: Case) -> Shown:
    capture = case.capture
    charts = []
    if capture.events:
        charts = [Chart(picture=saved_picture(capture, look()), file_name="saved_bytes")]
    return Shown(
        headline=_headline(capture),
        charts=charts,
        below=None if presenting() else lambda: _below(case),
        code=snippet(case),
    )


def _headline(capture: Capture) -> str:
    most = max((event.saved_bytes for event in capture.events), default=0)
    last = capture.events[-1].saved_bytes if capture.events else 0
    size, left = (format_bytes(each, unit_system()) for each in (most, last))
    if not most:
        return _("Nothing extra is kept for backward: what it needs is alive anyway")
    if last:
        return _("The graph keeps up to {size}, and {left} at the end").format(size=size, left=left)
    return _("The graph keeps up to {size}; backward frees all of it").format(size=size)


def _below(case: Case) -> None:
    rows = [(node, each) for node in case.capture.nodes for each in node.saved]
    if rows:
        show_table(_table(rows))
    if case.built is not None and case.built.key.startswith("block"):
        _show_closed_form(case)
        query = {
            "plan_model": "gpt2",
            "plan_checkpointing": "none",
            "plan_length": str(case.number),
        }
        show_link("plan/training_memory", _("What training all of GPT-2 keeps →"), query)


def _show_closed_form(case: Case) -> None:
    """Show the closed form of Training memory beside the bytes that were captured."""
    sizes = block_bytes(GPT2_BLOCK, case.number, case.capture)
    rows = {
        _("Closed form, fused attention"): sizes.fused,
        _("Scores, softmax and dropout, written out"): sizes.manual - sizes.fused,
        _("Closed form, manual attention"): sizes.manual,
        _("This graph, measured"): sizes.measured,
    }
    show_table(
        {
            _("Kept by one block, its input included"): list(rows),
            _("Bytes"): [format_bytes(size, unit_system()) for size in rows.values()],
            _("Exactly"): [f"{size:,}" for size in rows.values()],
        }
    )


def _table(rows: list[tuple[Node, Saved]]) -> dict[str, list[str]]:
    return {
        _("Node"): [node.label for node, _each in rows],
        _("Keeps"): [each.name for _node, each in rows],
        _("Shape"): [str(each.tensor.shape) for _node, each in rows],
        _("Bytes"): [format_bytes(each.storage_bytes, unit_system()) for _node, each in rows],
        _("Memory"): [each.storage or "–" for _node, each in rows],
        _("Which is"): [_kind(each) for _node, each in rows],
        _("Version saved, now"): [f"{_version(each.version_saved)}, {_version(each.version_now)}"
                                  for _node, each in rows],
    }  # fmt: skip


def _kind(each: Saved) -> str:
    text = _(_KINDS[each.kind])
    return f"{text}: {each.alias_of}" if each.alias_of else text


def _version(number: int | None) -> str:
    return "–" if number is None else str(number)


def saved_picture(capture: Capture, look: Look) -> Picture:
    """Return the saved bytes after each moment, as a curve in steps; backward is shaded."""
    layout, drawing = look.layout(), Drawing()
    sizes = [event.saved_bytes for event in capture.events]
    labels = {node.id: node.label for node in capture.nodes}
    labels |= {ghost.id: ghost.label for ghost in capture.ghosts}
    names = [labels.get(event.node, "") for event in capture.events]
    drawing.scatter(
        x=list(range(1, len(sizes) + 1)), y=sizes, mode="lines", line_shape="hv",
        fill="tozeroy", line={"color": look.color("activations"), "width": 2},
        text=[f"{event.kind} {name}: {look.format_bytes(size)}"
              for event, name, size in zip(capture.events, names, sizes, strict=True)],
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip
    begins = [at for at, event in enumerate(capture.events, start=1) if event.kind == "seed"]
    dotted = {"color": look.color("backward"), "dash": "dot", "width": 2}
    for at in begins:
        drawing.shape(type="line", x0=at, x1=at, y0=0, y1=1, yref="paper", line=dotted)
        drawing.note(
            x=at, y=1, yref="paper", xanchor="left", yanchor="top", text=_("backward begins")
        )
    most = max(sizes)
    ticks = [most * number // _NUM_TICKS for number in range(_NUM_TICKS + 1)] if most else [0]
    axes = {
        "xaxis": layout["xaxis"] | {"title": _("event"), "zeroline": False},
        "yaxis": layout["yaxis"]
        | {
            "title": _("bytes kept"),
            "range": [0, max(most, 1) * 1.15],  # what is written stands above the curve
            "tickvals": ticks,
            "ticktext": [look.format_bytes(tick) for tick in ticks],
        },
        "showlegend": False,
    }
    alt = _("The graph keeps up to {most} over {count} events, and {last} after the last one.")
    return Picture(
        figure=drawing.figure(layout | axes),
        alt=alt.format(most=look.format_bytes(most), count=len(sizes),
                       last=look.format_bytes(sizes[-1])),
        table={_("event"): [event.kind for event in capture.events], _("operation"): names,
               _("bytes kept"): sizes},
    )  # fmt: skip


TAB: Final = Tab(label=N_("Saved tensors"), show=saved)
