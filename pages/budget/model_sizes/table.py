"""7B, 13B and 70B in five formats: a tutorial's table, corrected."""

from collections.abc import Sequence
from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.source_table import Cell, source_table
from core.figures.budget.model_sizes.size_table import (
    table_alt,
    table_figure,
    table_rows,
    two_decimals,
)
from core.figures.budget.model_sizes.weight_words import Line
from core.language import _
from pages.budget.model_sizes.inputs import PAGE, Case
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode, unit_system

CODE: Final = """
from core.budget.catalogue.source_table import source_table

for cell in source_table(real={real}, scales={scales}):
    print(f"{{cell.size.name:12}} {{cell.format_name:14}} {{cell.item.amount / 2**30:7.2f}} GiB")
"""
_NODES: Final = (("rtx-4090", 1), ("h100-sxm", 1), ("h100-sxm", 2))


def show_table(case: Case) -> str:
    """Show the corrected table as bars and return Python that prints it."""
    with case.beside_tabs:
        real = pickers.toggle(PAGE, "real", _("Real counts"), default=False)
        scales = pickers.toggle(PAGE, "scales", _("Scales"), default=False)
    cells, unit = source_table(real=real, scales=scales), unit_system()
    headline(table_headline(cells))
    show_chart(
        table_figure(cells, _lines(), unit, theme_mode(), present=presenting()),
        key=f"{PAGE}_table_bytes",
        alt=table_alt(cells, unit),
        table=table_rows(cells, case.line, unit),
        file_name="sizes-and-formats",
    )
    return CODE.format(real=real, scales=scales)


def table_headline(cells: Sequence[Cell]) -> str:
    """Return the sentence: the largest model in its formats, and the errors of the tutorial."""
    last = [cell for cell in cells if cell.size is cells[-1].size]
    unit = unit_system()
    sentence = _("{model} takes {wide} in {first}, {narrow} in {last}").format(
        model=last[0].size.name,
        wide=two_decimals(last[0].item.amount, unit),
        narrow=two_decimals(last[-1].item.amount, unit),
        first=f"`{last[0].format_name}`",
        last=f"`{last[-1].format_name}`",
    )
    wrong = sum(cell.was_wrong for cell in cells)
    if not wrong:
        return sentence
    return sentence + _("; {wrong} of {all} printed figures were wrong").format(
        wrong=wrong, all=len(cells)
    )


def _lines() -> tuple[Line, ...]:
    return tuple(
        Line(
            f"{number} × {DEVICES[key].name}" if number > 1 else DEVICES[key].name,
            number * DEVICES[key].memory_usable,
        )
        for key, number in _NODES
    )
