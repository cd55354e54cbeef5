"""Running sums in several formats beside the true one: where they stop growing."""

from collections.abc import Sequence

from core.dtypes.labs import Accumulation
from core.figures.dtypes.low_precision_training.lab_frame import (
    MAX_ROWS,
    STYLES,
    LabDrawing,
    exact_name,
    some,
)
from core.figures.dtypes.written import number, short
from core.figures.picture import Look, Picture, Table
from core.language import _


def sums_picture(sums: Sequence[Accumulation], chosen: str, look: Look) -> Picture:
    """Return one line a format, the chosen one in bold, and the sum without rounding.

    Raises:
        ValueError: If there are no sums or more than lines that can be told apart.
    """
    if not 1 <= len(sums) <= len(STYLES):
        raise ValueError(
            _("Choose 1 to {most} sums to compare, not {count}.").format(
                most=len(STYLES), count=len(sums)
            )
        )
    drawing, places = LabDrawing(look=look), some(len(sums[0].counts))
    drawing.truth(sums[0].counts[places], sums[0].reference[places])
    for each, (meaning, dash, _symbol) in zip(sums, STYLES, strict=False):
        seen = some(len(each.counts), always=[(each.stalls_after or 1) - 1])
        x, y, width = each.counts[seen], each.sums[seen], 5 if each.format == chosen else 2.5
        drawing.line(x, y, short(each.format), meaning, dash=dash, width=width)
        if each.format == chosen and each.stalls_after is not None:
            _point_at_stall(drawing, each.stalls_after, each.result)
    layout = drawing.layout(
        x={"title": _("values added"), "tickformat": ","},
        y={"title": _("running sum"), "rangemode": "tozero", "tickformat": ",~g"},
    )
    return Picture(figure=drawing.figure(layout), alt=_sentence(sums), table=_table(sums))


def _point_at_stall(drawing: LabDrawing, x: float, y: float) -> None:
    """Write at the end of an arrow, on a ground that covers lines behind it."""
    drawing.note(
        x=x,
        y=y,
        text=_("stalls at {sum}").format(sum=number(y)),
        showarrow=True,
        arrowcolor=drawing.look.color("text"),
        arrowwidth=2,
        bgcolor=drawing.look.color("background"),
        ax=60,
        ay=-40,
    )


def _sentence(sums: Sequence[Accumulation]) -> str:
    """Return every format's last sum beside the true one."""
    parts = [
        _("{format} ends at {sum}").format(format=short(each.format), sum=number(each.result))
        for each in sums
    ]
    return _("Running sums of {count} values. The true sum is {exact}; {parts}.").format(
        count=f"{int(sums[0].counts[-1]):,}", exact=number(sums[0].exact), parts=_(", ").join(parts)
    )


def _table(sums: Sequence[Accumulation]) -> Table:
    """Return some of the running sums, the last one always."""
    places = some(len(sums[0].counts), MAX_ROWS)
    return {
        _("values added"): [int(count) for count in sums[0].counts[places]],
        exact_name(): [number(value) for value in sums[0].reference[places]],
        **{short(each.format): [number(value) for value in each.sums[places]] for each in sums},
    }
