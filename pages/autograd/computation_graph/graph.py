"""The answer: the graph with values and gradients, and what a change of a leaf really does."""

from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from core.autograd.collapse import Box, collapse
from core.autograd.errors import Explanation
from core.autograd.graph import Capture, Node, to_json
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _, ngettext
from core.units import format_bytes, format_flops, format_seconds
from pages.autograd.computation_graph.inputs import ASK, Case
from pages.autograd.computation_graph.inspector import inspect
from pages.autograd.computation_graph.run_step import about_the_batch
from pages.autograd.computation_graph.snippets import snippet
from pages.components.computation_graph.computation_graph import computation_graph
from pages.components.computation_graph.texts import (
    draw,
    gradient_text,
    norm_of,
    number_text,
    signed,
    tensor_text,
)
from pages.shared.charts import show_chart, show_table, table_csv
from pages.shared.lessons import in_language
from pages.shared.settings import look, presenting, unit_system
from pages.shared.start.torch_errors import TorchError, error_of
from pages.shared.tabbed_page import Part, Shown, Tab
from pages.shared.tensors.program import show_printed, show_verbatim

ROOM: Final = 360  # pixels of the picture
PRESENT_ROOM: Final = 352
MOST_BARS: Final = 16  # nodes whose work is drawn
_LIMITS: Final = {
    "nodes": N_("More than 2,000 nodes: the graph below is cut off there."),
    "calls": N_("More operations than one capture may run: the rest is left out."),
    "bytes": N_("More memory than one capture may use: the rest is left out."),
    "seconds": N_("The capture ended after 2 s: what ran until then is shown."),
}


def graph(case: Case) -> Shown:
    """Show the graph; below it, all that is known about the chosen node."""
    capture = case.capture
    opened = [path for path in _bound("open", 400).split("|") if path]
    selected, step = _bound("at", 120), _bound("step", 6)
    view = collapse(capture, opened, as_tensors=case.as_tensors)
    if view.boxes:
        computation_graph(
            capture,
            view,
            draw(capture, view, present=presenting()),
            key=ASK.key("picture"),
            on_choice=partial(_choose, tuple(opened)),
            file_name="graph",
            selected=selected,
            step=int(step) if step.removeprefix("-").isdecimal() else None,
            room=PRESENT_ROOM if presenting() else ROOM,
            color_by_gradient=case.is_heated,
        )
    show_printed(case.capture.printed)
    _explain(case)
    chosen = {box.id: box for box in view.boxes}.get(selected)
    return Shown(
        headline=_headline(case),
        part=Part(key=ASK.key("picture"), file_name="graph") if view.boxes else None,
        notes=_notes(case, collapsed=view.collapsed_by_itself),
        below=None if presenting() else partial(_below, case, chosen),
        code=snippet(case),
    )


def _bound(name: str, max_chars: int) -> str:
    """Return a setting that the picture writes; its field is not seen."""
    with st.container(key=f"bound_{ASK.key(name)}"):
        return ASK.text(name, ASK.key(name), max_chars=max_chars)


def _choose(opened: tuple[str, ...], what: str, value: str) -> None:
    if what == "expanded":
        ASK.write("open", "|".join(dict.fromkeys((*opened, value))))
    elif what == "closed":
        ASK.write("open", "|".join(path for path in opened if not path.startswith(value)))
    else:
        ASK.write({"selected": "at", "step": "step"}[what], value)


def _headline(case: Case) -> str:
    explained, _warned = case.explanations
    if explained is not None:
        known = _known(explained)
        return in_language(known.why) if known else explained.sentence
    nudged = case.nudged
    if nudged is None:
        return _size(case)
    message = _(
        "{leaf} changes by {delta}: the result changes by **{change}**; gradient × change is "
        "{gradient} × {delta} = **{predicted}**"
    )
    return message.format(
        leaf=f"`{case.changed}`",
        delta=signed(nudged.delta),
        change=signed(nudged.change),
        gradient=number_text(nudged.gradient),
        predicted=signed(nudged.predicted),
    ) + _added_up(case)


def _added_up(case: Case) -> str:
    """Return the `.grad` of what is changed where more than one backward pass has added to it."""
    grad = case.capture.leaves[case.leaf].gradient
    while isinstance(grad, list):
        grad = grad[0]
    count = sum(event.kind == "seed" for event in case.capture.events)
    if grad is None or count < 2:
        return ""
    message = _("; after {count} backward passes its `.grad` is {grad}")
    return message.format(count=count, grad=number_text(grad))


def _size(case: Case) -> str:
    """Return how large the graph is and what it lets go, where no single change can be compared."""
    capture = case.capture
    ran = len(capture.order)
    freed = sum(event.num_bytes for event in capture.events if event.kind == "release")
    message = ngettext(
        "{name}: backward runs {count} node and frees {size} of saved tensors on the way",
        "{name}: backward runs {count} nodes and frees {size} of saved tensors on the way",
        ran,
    )
    name = _(case.built.title) if case.built else _("This program")
    if case.run is not None:
        name = case.run.words
    sentence = message.format(name=name, count=ran, size=format_bytes(freed, unit_system()))
    norms = [
        norm for node in capture.nodes for each in node.gradients_in if (norm := norm_of(each))
    ]
    forward = sum(node.flops_forward for node in capture.nodes)
    if forward:
        backward = sum(node.flops_backward for node in capture.nodes)
        more = _("{said}; its matrix products take {ratio} times the FLOPs of the forward pass")
        sentence = more.format(said=sentence, ratio=f"{backward / forward:.3g}")
    if not case.is_heated or not norms:
        return sentence
    return _("{said}; gradient norms from {low} to {high}").format(
        said=sentence, low=f"{min(norms):.3g}", high=f"{max(norms):.3g}"
    )


def _known(explained: Explanation) -> TorchError | None:
    """Return Home's row of an error that has nothing to do with gradients."""
    return error_of(explained.torch_message) if explained.kind == "other" else None


def _explain(case: Case) -> None:
    """Say why torch refused or warned, or what made NaN; what to do, and how the program runs."""
    explained, warned = case.explanations
    if explained is None and not warned:
        return
    with st.container(key=ASK.key("refused")):
        if explained is not None:
            known = _known(explained)
            icon = "warning" if explained.kind == "not_finite" else "block"
            advice = in_language(known.fix) if known else explained.advice
            st.markdown(f":material/{icon}: {advice}")
            _show_way_out(explained, "rewrite")
        for number, each in enumerate(warned):
            st.markdown(f":material/warning: {each.sentence} {each.advice}")
            _show_way_out(each, f"rewrite_{number}")


def _show_way_out(explained: Explanation, key: str) -> None:
    if explained.rewrite:
        is_finite = explained.kind == "not_finite"
        st.caption(_("The same values, and finite gradients:") if is_finite else _("This runs:"))
        show_verbatim(explained.rewrite)
        st.button(
            _("Take it over"), key=ASK.key(key), on_click=lambda: ASK.set("code", explained.rewrite)
        )
    if explained.torch_message:
        show_verbatim(explained.torch_message)


def _notes(case: Case, *, collapsed: bool) -> list[str]:
    capture: Capture = case.capture
    notes = [about_the_batch(case.run, capture)] if case.run is not None else []
    notes += [_(_LIMITS[word]) for word in capture.limits_hit]
    if collapsed:
        count = len(capture.nodes)
        message = _(
            "{count} nodes are too many to read: modules are closed. Open one with a click."
        )
        notes.append(message.format(count=count))
    if any(saved.kind == "packed" for node in capture.nodes for saved in node.saved):
        notes.append(
            _("Checkpointed parts keep no tensors here: backward runs their forward pass again.")
        )
    return notes


def _below(case: Case, chosen: Box | None) -> None:
    """Show the chosen node and, if asked for, all nodes with their work; also as files."""
    if chosen is not None:
        inspect(case, chosen)
    nodes = case.capture.nodes
    if not nodes or not ASK.toggle("nodes", _("All nodes"), default=False):
        return
    if worked := [node for node in nodes if node.flops_forward or node.flops_backward]:
        show_chart(work_picture(worked, look()), key=ASK.key("work"), file_name="work")
    table = _table(nodes)
    show_table(table)
    with st.container(horizontal=True):
        st.download_button("CSV", table_csv(table), file_name="nodes.csv", mime="text/csv",
                           key=ASK.key("csv"))  # fmt: skip
        st.download_button("JSON", to_json(case.capture), file_name="capture.json",
                           mime="application/json", key=ASK.key("json"))  # fmt: skip


def _table(nodes: tuple[Node, ...]) -> dict[str, list[str]]:
    return {
        _("Label"): [node.label for node in nodes],
        _("Node"): [node.type for node in nodes],
        _("Module"): [node.module for node in nodes],
        _("Value"): [tensor_text(node.outputs[0] if node.outputs else None) for node in nodes],
        _("Gradient"): [
            gradient_text(node.gradients_in[0] if node.gradients_in else None) for node in nodes
        ],
        _("Turn"): ["" if node.order is None else str(node.order + 1) for node in nodes],
        _("FLOPs forward"): [_flops(node.flops_forward) for node in nodes],
        _("FLOPs backward"): [_flops(node.flops_backward) for node in nodes],
        _("Time, with hooks"): [
            format_seconds(node.seconds) if node.seconds else "" for node in nodes
        ],
    }


def _flops(count: int) -> str:
    return format_flops(count) if count else ""


def work_picture(nodes: Sequence[Node], look: Look) -> Picture:
    """Return two bars a node: the FLOPs of its operation, and of its backward."""
    layout, drawing = look.layout(), Drawing()
    heavy = sorted(nodes, key=lambda node: -(node.flops_forward + node.flops_backward))[:MOST_BARS]
    shown = [node for node in nodes if node in heavy]
    names = [f"{at}. {_name(node)}" for at, node in enumerate(shown, start=1)]
    counts = {
        "forward": [node.flops_forward for node in shown],
        "backward": [node.flops_backward for node in shown],
    }
    words = {"forward": _("forward"), "backward": _("backward")}
    for meaning, numbers in counts.items():
        drawing.bar(
            orientation="h", name=words[meaning], x=numbers, y=names,
            marker={"color": look.color(meaning)},
            text=[format_flops(number) for number in numbers],
            hovertemplate="%{y}: %{text}<extra></extra>", textposition="none",
        )  # fmt: skip
    axes = {
        "xaxis": layout["xaxis"] | {"title": "FLOPs"},
        "yaxis": layout["yaxis"] | {"autorange": "reversed"},
        "barmode": "group",
    }
    forward, backward = (sum(numbers) for numbers in counts.values())
    alt = _("{count} nodes with matrix products: {forward} forward, {backward} backward.")
    return Picture(
        figure=drawing.figure(layout | axes),
        alt=alt.format(count=len(shown), forward=format_flops(forward),
                       backward=format_flops(backward)),
        table={_("node"): names, words["forward"]: counts["forward"],
               words["backward"]: counts["backward"]},
    )  # fmt: skip


def _name(node: Node) -> str:
    return f"{node.module.rpartition('.')[2]} {node.label}".strip()[:28]


TAB: Final = Tab(label=N_("Graph"), show=graph)
