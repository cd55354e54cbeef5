"""A ring all-reduce, one step: what every rank holds, chunk by chunk, and what has just moved."""

from collections.abc import Mapping, Sequence
from typing import Final

from core.budget.parallel.ring import RingStep, bytes_sent
from core.figures.budget.parallelism.frame import bare_rows, text_size
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _, ngettext

_ROW_PX: Final = 62
_ROWS_PX: Final = 260  # of all rows together, at most
PHASES: Final[Mapping[str, str]] = {
    "start": N_("start: every rank has its own array"),
    "reduce-scatter": N_("reduce-scatter: the right neighbour adds what comes"),
    "all-gather": N_("all-gather: the right neighbour keeps what comes"),
}


def ring_picture(steps: Sequence[RingStep], number: int, look: Look) -> Picture:
    """Return the ranks as rows and the chunks as columns after a step.

    A square is the darker the more ranks' values are in its sum; what moved in this step has a
    frame, and an arrow comes from the rank that sent it.
    """
    step = steps[number]
    num_ranks, size = len(step.values), text_size(look)
    drawing = Drawing()
    _draw_squares(drawing, step, look, size)
    for send in step.sends:
        _draw_arrow(drawing, send.chunk, send.source, send.target, look.color("gradients"))
    places = list(range(num_ranks))
    figure = bare_rows(
        drawing,
        look,
        x={
            "side": "top",
            "tickvals": places,
            "ticktext": [_("chunk {number}").format(number=place) for place in places],
            "range": [-0.5, num_ranks - 0.5],
        },
        y={
            "tickvals": places,
            "ticktext": [_("rank {number}").format(number=place) for place in places],
            "range": [num_ranks - 0.45, -0.8],
        },
        height=round(min((num_ranks + 0.25) * _ROW_PX, _ROWS_PX)) + 3 * size,
        top=2 * size,
        showlegend=False,
    )
    return Picture(figure=figure, alt=_sentence(steps, number), table=_table(step))


def _draw_squares(drawing: Drawing, step: RingStep, look: Look, size: int) -> None:
    num_ranks = len(step.values)
    drawing.trace(
        "heatmap",
        z=[[len(ranks) / num_ranks for ranks in row] for row in step.ranks_in],
        zmin=0,
        zmax=1.4,
        colorscale=[[0, look.color("surface")], [1, look.color("activations")]],
        showscale=False,
        xgap=6,
        ygap=6,
        text=[[_written(chunk) for chunk in row] for row in step.values],
        texttemplate="%{text}",
        textfont={"size": size + 3, "color": look.color("text")},
        customdata=[[", ".join(map(str, sorted(ranks))) for ranks in row] for row in step.ranks_in],
        hovertemplate=_("from ranks: {ranks}").format(ranks="%{customdata}") + "<extra></extra>",
    )


def _written(chunk: Sequence[float]) -> str:
    return ", ".join(f"{value:.0f}" for value in chunk)


def _draw_arrow(drawing: Drawing, chunk: int, source: int, target: int, color: str) -> None:
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


def _sentence(steps: Sequence[RingStep], number: int) -> str:
    """Return how far the ring is and what each rank has sent."""
    step = steps[number]
    num_ranks = len(step.values)
    finished = sum(len(ranks) == num_ranks for row in step.ranks_in for ranks in row)
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
        sent=bytes_sent(steps[: number + 1], rank=0),
    )


def _table(step: RingStep) -> Table:
    """Return one row a rank."""
    columns = {
        _("chunk {number}").format(number=chunk): [_written(row[chunk]) for row in step.values]
        for chunk in range(len(step.values))
    }
    return {_("rank"): list(range(len(step.values))), **columns}
