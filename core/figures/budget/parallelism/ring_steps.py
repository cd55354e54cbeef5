"""A ring all-reduce, one step: what every rank holds, chunk by chunk, and what has just moved."""

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.budget.parallel.ring import RingStep, bytes_sent
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import N_, _, ngettext

_ROW_PX: Final = 62
_ROWS_PX: Final = 260  # of all rows together, at most
PHASES: Final[Mapping[str, str]] = {
    "start": N_("start: every rank has its own array"),
    "reduce-scatter": N_("reduce-scatter: the right neighbour adds what comes"),
    "all-gather": N_("all-gather: the right neighbour keeps what comes"),
}


def ring_figure(
    steps: Sequence[RingStep], number: int, mode: Mode, *, present: bool = False
) -> go.Figure:
    """Return the ranks as rows and the chunks as columns after a step.

    A square is the darker the more ranks' values are in its sum; what moved in this step has a
    frame, and an arrow comes from the rank that sent it.
    """
    step = steps[number]
    layout = plotly_layout(mode, present=present)
    color = COLORS[mode]
    num_ranks = len(step.values)
    size = int(layout["font"]["size"])
    drawing = Drawing()
    drawing.traces.append(_squares(step, color, size))
    for send in step.sends:
        _arrow(drawing, send.chunk, send.source, send.target, color["gradients"])
    bare = {"showgrid": False, "zeroline": False, "fixedrange": True}
    places = list(range(num_ranks))
    axes = {
        "xaxis": layout["xaxis"]
        | bare
        | {"side": "top", "tickvals": places, "range": [-0.5, num_ranks - 0.5]}
        | {"ticktext": [_("chunk {number}").format(number=place) for place in places]},
        "yaxis": layout["yaxis"]
        | bare
        | {"tickvals": places, "range": [num_ranks - 0.45, -0.8]}
        | {"ticktext": [_("rank {number}").format(number=place) for place in places]},
        "height": round(min((num_ranks + 0.25) * _ROW_PX, _ROWS_PX)) + 3 * size,
        "margin": {"l": 8, "r": 8, "t": 2 * size, "b": 8},
    }
    return drawing.figure(layout | axes | {"template": "none", "showlegend": False})


def _squares(step: RingStep, color: Mapping[str, str], size: int) -> dict[str, object]:
    num_ranks = len(step.values)
    done = [[len(ranks) / num_ranks for ranks in row] for row in step.ranks_in]
    return {
        "type": "heatmap",
        "z": done,
        "zmin": 0,
        "zmax": 1.4,
        "colorscale": [[0, color["surface"]], [1, color["activations"]]],
        "showscale": False,
        "xgap": 6,
        "ygap": 6,
        "text": [[", ".join(f"{value:.0f}" for value in chunk) for chunk in row]
                 for row in step.values],
        "texttemplate": "%{text}",
        "textfont": {"size": size + 3, "color": color["text"]},
        "customdata": [[", ".join(map(str, sorted(ranks))) for ranks in row]
                       for row in step.ranks_in],
        "hovertemplate": _("from ranks: {ranks}").format(ranks="%{customdata}") + "<extra></extra>",
    }  # fmt: skip


def _arrow(drawing: Drawing, chunk: int, source: int, target: int, color: str) -> None:
    """Frame what came and draw the way that it took; from the last rank it goes round."""
    drawing.shape(
        type="rect", x0=chunk - 0.46, x1=chunk + 0.46, y0=target - 0.42, y1=target + 0.42,
        line={"color": color, "width": 3},
    )  # fmt: skip
    goes_round = target < source
    drawing.note(
        x=chunk + 0.36, y=target - 0.3, ax=chunk + 0.36,
        ay=-0.78 if goes_round else source + 0.1,
        xref="x", yref="y", axref="x", ayref="y", text="",
        showarrow=True, arrowhead=2, arrowwidth=2.5, arrowcolor=color,
    )  # fmt: skip


def step_title(step: RingStep) -> str:
    """Return what this step does, translated."""
    return _(PHASES[step.phase])


def ring_alt(steps: Sequence[RingStep], number: int) -> str:
    """Return the picture in words."""
    step = steps[number]
    num_ranks = len(step.values)
    finished = sum(len(ranks) == num_ranks for row in step.ranks_in for ranks in row)
    sent = bytes_sent(steps[: number + 1], rank=0)
    return ngettext(
        "A ring of {ranks} ranks after step {number} of {steps}, {phase}: {count} of {squares} "
        "squares holds the whole sum; each rank has sent {sent} bytes.",
        "A ring of {ranks} ranks after step {number} of {steps}, {phase}: {count} of {squares} "
        "squares hold the whole sum; each rank has sent {sent} bytes.",
        finished,
    ).format(
        ranks=num_ranks,
        number=number,
        steps=len(steps) - 1,
        phase=step_title(step),
        count=finished,
        squares=num_ranks**2,
        sent=sent,
    )


def ring_table(steps: Sequence[RingStep], number: int) -> Mapping[str, Sequence[object]]:
    """Return one row a rank."""
    values = steps[number].values
    columns = {
        _("chunk {number}").format(number=chunk): [
            ", ".join(f"{value:.0f}" for value in row[chunk]) for row in values
        ]
        for chunk in range(len(values))
    }
    return {_("rank"): list(range(len(values))), **columns}
