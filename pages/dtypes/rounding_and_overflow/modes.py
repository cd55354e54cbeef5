"""Six rounding modes by four overflow rules: what each pair makes of one number."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from core.dtypes.cast.cast_trace import CastTrace
from core.dtypes.rounding import OVERFLOWS, ROUNDINGS, Overflow, Rounding
from core.figures.dtypes.rounding_and_overflow.cast_words import (
    LAMPS,
    OVERFLOW_NAMES,
    ROUNDING_NAMES,
    digits,
    outcome_words,
    precision,
)
from core.figures.dtypes.rounding_and_overflow.matrix import frame_cell, word_axes
from core.figures.picture import Drawing, Look, Picture, Table
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
        x=[x for x, _y in cells],
        y=[y for _x, y in cells],
        mode="text",
        text=list(cells.values()),
        textfont={"color": look.color("text")},
        hovertext=[outcome_words(trace) for trace in grid.values()],
        hoverinfo="text",
    )
    columns = [_(OVERFLOW_NAMES[each]) for each in OVERFLOWS]
    rows = [_(ROUNDING_NAMES[each]) for each in ROUNDINGS]
    figure = drawing.figure(look.layout() | word_axes(columns, rows, look, row_px=ROW_PX))
    return Picture(figure=figure, alt=_sentence(grid, said, format_name), table=_table(grid))


def _sentence(grid: Grid, said: str, format_name: str) -> str:
    results = dict.fromkeys(digits(trace.result) for trace in grid.values())
    if len(results) == 1:
        return _(
            "{number} in {format} under six rounding modes and four overflow rules: "
            "{result} every time."
        ).format(number=said, format=format_name, result=next(iter(results)))
    return _(
        "{number} in {format} under six rounding modes and four overflow rules: "
        "{count} different results: {results}."
    ).format(number=said, format=format_name, count=len(results), results=_(", ").join(results))


def _table(grid: Grid) -> Table:
    table = {_("rounding"): [_(ROUNDING_NAMES[rounding]) for rounding in ROUNDINGS]}
    for overflow in OVERFLOWS:
        table[_(OVERFLOW_NAMES[overflow])] = [
            digits(grid[rounding, overflow].result, 20) for rounding in ROUNDINGS
        ]
    return table


TAB = Tab(label=N_("Rounding modes"), show=modes)
