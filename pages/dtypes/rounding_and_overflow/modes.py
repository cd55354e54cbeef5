"""Six rounding modes by four overflow rules: what each pair makes of one number."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from core.dtypes.cast.explain_cast import CastTrace
from core.dtypes.rounding import OVERFLOWS, ROUNDINGS, Overflow, Rounding
from core.figures.dtypes.rounding_and_overflow.cast_words import (
    LAMPS,
    OVERFLOW_NAMES,
    ROUNDING_NAMES,
    digits,
    outcome_words,
    precision,
)
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from pages.dtypes.rounding_and_overflow.answer import answered
from pages.dtypes.rounding_and_overflow.inputs import Case
from pages.shared.settings import look
from pages.shared.tabbed_page import Shown, Tab

Grid = Mapping[tuple[Rounding, Overflow], CastTrace]
ROW_PX: Final = 34


def modes(case: Case) -> Shown:
    grid = {
        (rounding, overflow): replace(case, rounding=rounding, overflow=overflow).into(case.fmt)
        for rounding in ROUNDINGS
        for overflow in OVERFLOWS
    }
    chosen = (case.rounding, case.overflow)
    picture = modes_picture(grid, chosen, case.fmt.name, case.said, look())
    shown = answered(case, picture, "rounding_modes")
    results = dict.fromkeys(digits(trace.result, precision(case.fmt)) for trace in grid.values())
    said = _("{answer}; by six modes and four overflow rules: {results}")
    return replace(
        shown, headline=said.format(answer=shown.headline, results=_(", ").join(results))
    )


def modes_picture(
    grid: Grid, chosen: tuple[Rounding, Overflow], format_name: str, said: str, look: Look
) -> Picture:
    """Return a field of results, a row a mode and a column a rule; the chosen pair is framed."""
    drawing, cells = Drawing(), {}
    for pair, trace in grid.items():
        cell = OVERFLOWS.index(pair[1]), ROUNDINGS.index(pair[0])
        lamp, is_chosen = LAMPS[trace.outcome], pair == chosen
        color = look.color("accent" if is_chosen else lamp.color)
        frame_cell(drawing, cell, 0.42, {"color": color, "width": 5 if is_chosen else 1.5}, look)
        cells[cell] = f"{lamp.sign} <b>{digits(trace.result, 8)}</b>"
    drawing.scatter(
        x=[x for x, _y in cells], y=[y for _x, y in cells], mode="text", text=list(cells.values()),
        textfont={"color": look.color("text")},
        hovertext=[outcome_words(trace) for trace in grid.values()], hoverinfo="text",
    )  # fmt: skip
    columns = [_(OVERFLOW_NAMES[each]) for each in OVERFLOWS]
    rows = [_(ROUNDING_NAMES[each]) for each in ROUNDINGS]
    figure = drawing.figure(look.layout() | word_axes(columns, rows, look, row_px=ROW_PX))
    results = dict.fromkeys(digits(trace.result) for trace in grid.values())
    text = _(
        "{number} in {format} under six rounding modes and four overflow rules: "
        "{count} different results: {results}."
    )
    if len(results) == 1:
        text = _(
            "{number} in {format} under six rounding modes and four overflow rules: "
            "{result} every time."
        )
    alt = text.format(
        number=said,
        format=format_name,
        count=len(results),
        result=next(iter(results)),
        results=_(", ").join(results),
    )
    table = {_("rounding"): rows}
    for overflow, name in zip(OVERFLOWS, columns, strict=True):
        table[name] = [digits(grid[rounding, overflow].result, 20) for rounding in ROUNDINGS]
    return Picture(figure=figure, alt=alt, table=table)


def word_axes(
    columns: Sequence[str], rows: Sequence[str], look: Look, *, row_px: int
) -> dict[str, Any]:
    """Return the frame of a picture that has words in cells, columns named above."""
    layout = look.layout()
    size = int(layout["font"]["size"])
    plain = {"showgrid": False, "zeroline": False, "fixedrange": True}
    across = {"side": "top", "range": [-0.5, len(columns) - 0.5], **_named(columns)}
    down = {"range": [len(rows) - 0.5, -0.5], **_named(rows)}
    return {
        "height": len(rows) * (row_px + size // 2) + 3 * size,
        "showlegend": False,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "xaxis": layout["xaxis"] | plain | across,
        "yaxis": layout["yaxis"] | plain | down,
    }


def _named(names: Sequence[str]) -> dict[str, Any]:
    return {"tickvals": list(range(len(names))), "ticktext": list(names)}


def frame_cell(
    drawing: Drawing, cell: tuple[int, int], half: float, line: Mapping[str, Any], look: Look
) -> None:
    """Draw a frame behind the words of a cell, `half` a height of it in rows."""
    x, y = cell
    drawing.shape(
        type="rect", x0=x - 0.47, x1=x + 0.47, y0=y - half, y1=y + half, layer="below",
        fillcolor=look.color("surface"), line=line,
    )  # fmt: skip


TAB = Tab(label=N_("Rounding modes"), show=modes)
