"""Running sums in several formats beside the true one: where they stop growing."""

from collections.abc import Mapping, Sequence

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.labs import Accumulation
from core.figures.dtypes.lab_frame import (
    MAX_ROWS,
    STYLES,
    exact_name,
    lab_figure,
    line,
    note,
    number,
    short,
    some,
)
from core.figures.theme import Mode
from core.language import _


def sums_figure(
    sums: Sequence[Accumulation], chosen: str, mode: Mode = "light", *, present: bool = False
) -> go.Figure:
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
    places = some(len(sums[0].counts))
    true = line(
        sums[0].counts[places],
        sums[0].reference[places],
        exact_name(),
        mode,
        "reference",
        dash="longdash",
    )
    lines = [
        _line(each, mode, style, bold=each.format == chosen)
        for each, style in zip(sums, STYLES, strict=False)
    ]
    figure = lab_figure(
        [true, *lines],
        mode,
        present=present,
        x={"title": _("values added"), "tickformat": ","},
        y={"title": _("running sum"), "rangemode": "tozero", "tickformat": ",~g"},
    )
    for each in sums:
        if each.format == chosen and each.stalls_after is not None:
            text = _("stalls at {sum}").format(sum=number(each.result))
            figure.add_annotation(note(each.stalls_after, each.result, text, mode, ax=60, ay=-40))
    return figure


def _line(
    total: Accumulation, mode: Mode, style: tuple[str, str, str], *, bold: bool
) -> go.Scatter:
    color, dash, _symbol = style
    places = some(len(total.counts), always=[(total.stalls_after or 1) - 1])
    x, y = total.counts[places], total.sums[places]
    return line(x, y, short(total.format), mode, color, dash=dash, width=5 if bold else 2.5)


def sums_alt(sums: Sequence[Accumulation]) -> str:
    """Return the picture as one sentence: every format's last sum beside the true one."""
    parts = [
        _("{format} ends at {sum}").format(format=short(each.format), sum=number(each.result))
        for each in sums
    ]
    return _("Running sums of {count} values. The true sum is {exact}; {parts}.").format(
        count=f"{int(sums[0].counts[-1]):,}", exact=number(sums[0].exact), parts=", ".join(parts)
    )


def sums_table(sums: Sequence[Accumulation]) -> Mapping[str, Sequence[object]]:
    """Return some of the running sums, the last one always."""
    places = some(len(sums[0].counts), MAX_ROWS)
    return {
        _("values added"): [int(count) for count in sums[0].counts[places]],
        exact_name(): [number(value) for value in sums[0].reference[places]],
        **{short(each.format): [number(value) for value in each.sums[places]] for each in sums},
    }
