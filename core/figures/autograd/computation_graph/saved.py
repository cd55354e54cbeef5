"""What a graph keeps over the forward and the backward pass."""

from typing import Final

from core.autograd.graph import Capture
from core.figures.picture import Drawing, Look, Picture
from core.language import _

_NUM_TICKS: Final = 4


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
