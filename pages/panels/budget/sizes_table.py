"""7B, 13B and 70B in five formats: a tutorial's table, corrected."""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from core.budget.devices import DEVICES
from core.budget.source_table import Cell, source_table
from core.figures.budget.size_table import table_alt, table_figure, table_rows, two_decimals
from core.figures.budget.weight_words import Line
from core.language import _
from pages.panels.budget.sizes_inputs import PAGE, Case
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode, unit_system

_NODES: Final = (("rtx-4090", 1), ("h100-sxm", 1), ("h100-sxm", 2))


def show_table(case: Case) -> None:
    """Show the corrected table as bars, and say how much of it was wrong."""
    with st.container(key="sizes_answer", horizontal=True, vertical_alignment="center"):
        answer = st.container(width="stretch")
        real = pickers.toggle(PAGE, "real", _("Llama-2's own counts"), default=False)
        scales = pickers.toggle(PAGE, "scales", _("With scales"), default=False)
    cells, unit = source_table(real=real, scales=scales), unit_system()
    with answer:
        headline(table_headline(cells))
    show_chart(
        table_figure(cells, _lines(), unit, theme_mode(), present=presenting()),
        key=f"{PAGE}_table_bytes",
        alt=table_alt(cells, unit),
        table=table_rows(cells, case.line, unit),
        file_name="sizes-and-formats",
    )


def table_headline(cells: Sequence[Cell]) -> str:
    """Return the sentence: the largest model in its formats, and the errors of the tutorial."""
    largest = [cell for cell in cells if cell.size is cells[-1].size]
    parts = [
        f"`{cell.format_name}` {two_decimals(cell.item.amount, unit_system())}"
        for cell in (largest[0], largest[1], largest[-1])
    ]
    sentence = f"{largest[0].size.name}: " + _(", ").join(parts)
    wrong = sum(cell.was_wrong for cell in cells)
    if not wrong:
        return sentence
    return sentence + _("; {wrong} of the tutorial's {all} figures were wrong").format(
        wrong=wrong, all=len(cells)
    )


def _lines() -> tuple[Line, ...]:
    return tuple(
        Line(f"{number} × {DEVICES[key].name}", number * DEVICES[key].memory_usable)
        for key, number in _NODES
    )
