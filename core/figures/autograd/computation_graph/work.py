"""The FLOPs of each node, forward and backward."""

from collections.abc import Sequence
from typing import Final

from core.autograd.graph import Node
from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.units import format_flops

MOST: Final = 16  # nodes that are drawn


def work_picture(nodes: Sequence[Node], look: Look) -> Picture:
    """Return two bars a node: the FLOPs of its operation, and of its backward."""
    layout, drawing = look.layout(), Drawing()
    heavy = sorted(nodes, key=lambda node: -(node.flops_forward + node.flops_backward))[:MOST]
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
