"""Which item each rank reads in which step, epoch under epoch."""

from collections.abc import Mapping, Sequence
from typing import Final

from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.train.text.batch_plan import BatchPlan

LINE_PX: Final = 40
MOST_LABELS: Final = 24  # items of a rank that are numbered
MOST_LINES: Final = 8


def ranks_picture(plans: Mapping[int, BatchPlan], look: Look) -> Picture:
    """Return a line of items for each rank of each epoch, cut into batches.

    Args:
        plans: Epoch -> which batches its ranks read.
        look: How the reader wants to see.
    """
    drawing, rows = Drawing(), _rows(plans)
    labels = [_("epoch {epoch}, rank {rank}").format(epoch=epoch, rank=rank)
              for epoch, rank, _batches in rows][:MOST_LINES]  # fmt: skip
    lines = [[item for batch in batches for item in batch] for _e, _r, batches in rows][:MOST_LINES]
    width = max((len(line) for line in lines), default=0)
    numbered = width <= (MOST_LABELS // 2 if look.present else MOST_LABELS)
    cells = [[*line, *[None] * (width - len(line))] for line in lines]
    drawing.trace(
        "heatmap", z=cells, y=labels, x=[place + 0.5 for place in range(width)], xgap=1, ygap=8,
        zmin=0, zmax=max((plan.num_items for plan in plans.values()), default=1),
        colorscale=[[0, look.color("surface")], [1, look.color("axis_1")]], showscale=False,
        hovertemplate="%{y}: " + _("item {number}").format(number="%{z}") + "<extra></extra>",
    )  # fmt: skip
    if numbered:
        _number(drawing, lines, labels, look)
    _cut(drawing, plans, len(lines), look)
    layout = look.layout()
    size = layout["font"]["size"]
    fields = {
        "height": round(len(lines) * LINE_PX * (1.3 if look.present else 1)) + size * 5,
        "margin": {"l": 8, "r": 8, "t": size * 2, "b": 8},
        "xaxis": layout["xaxis"] | {"title": {"text": _("items of a rank, in order")},
                                    "range": [0, max(width, 1)], "showgrid": False,
                                    "zeroline": False, "nticks": 8},
        "yaxis": layout["yaxis"] | {"autorange": "reversed", "showgrid": False, "type": "category",
                                    "fixedrange": True},
    }  # fmt: skip
    return Picture(figure=drawing.figure(layout | fields), alt=_sentence(plans), table=_table(rows))


def _rows(plans: Mapping[int, BatchPlan]) -> list[tuple[int, int, Sequence[tuple[int, ...]]]]:
    return [
        (epoch, rank, batches)
        for epoch, plan in plans.items()
        for rank, batches in enumerate(plan.ranks)
    ]


def _number(
    drawing: Drawing, lines: Sequence[Sequence[int]], labels: Sequence[str], look: Look
) -> None:
    """Write its number into every item."""
    highest = max(max(line, default=0) for line in lines)
    for label, line in zip(labels, lines, strict=True):
        drawing.scatter(
            x=[place + 0.5 for place in range(len(line))], y=[label] * len(line), mode="text",
            text=list(map(str, line)), hoverinfo="skip", showlegend=False,
            textfont={"color": [look.color("background" if item > highest * 0.55 else "text")
                                for item in line]},
        )  # fmt: skip


def _cut(drawing: Drawing, plans: Mapping[int, BatchPlan], num_lines: int, look: Look) -> None:
    """Draw where one batch ends and the next begins."""
    plan = next(iter(plans.values()))
    place = 0
    for batch in plan.ranks[0] if plan.num_steps <= 64 else ():
        place += len(batch)
        drawing.shape(
            type="line", x0=place, x1=place, y0=-0.5, y1=num_lines - 0.5,
            line={"color": look.color("axis_2"), "width": 3},
        )  # fmt: skip


def _sentence(plans: Mapping[int, BatchPlan]) -> str:
    epoch, plan = next(iter(plans.items()))
    return _(
        "{items} items on {ranks} ranks: each rank reads {steps} batches an epoch, the last of "
        "{last}. In epoch {epoch} rank 0 begins with the items {first}."
    ).format(
        items=f"{plan.num_items:,}",
        ranks=len(plan.ranks),
        steps=plan.num_steps,
        last=plan.last_batch_size,
        epoch=epoch,
        first=", ".join(map(str, plan.order[0][:6])) or "–",
    )


def _table(
    rows: Sequence[tuple[int, int, Sequence[tuple[int, ...]]]],
) -> dict[str, list[object]]:
    every = [
        (epoch, rank, step, ", ".join(map(str, batch)))
        for epoch, rank, batches in rows
        for step, batch in enumerate(batches)
    ]
    heads = (_("epoch"), _("rank"), _("step"), _("items"))
    return {head: [row[place] for row in every] for place, head in enumerate(heads)}
