"""7B, 13B and 70B in five formats: a tutorial's table, corrected."""

from collections.abc import Sequence
from typing import Final

from core.budget.weights.sizes import Cell, source_table
from core.figures.budget.model_sizes.table import table_picture, two_decimals
from core.language import _
from pages.budget.model_sizes.inputs import ASK, Case, several
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

CODE: Final = """
from core.budget.weights.sizes import source_table

for cell in source_table(real={real}, scales={scales}):
    print(f"{{cell.size.name:12}} {{cell.format_name:14}} {{cell.item.amount / 2**30:7.2f}} GiB")
"""
_NODES: Final = (("rtx-4090", 1), ("h100-sxm", 1), ("h100-sxm", 2))


def choose_table() -> tuple[bool, bool]:
    """Return whether real counts and scales are wanted."""
    real = ASK.toggle("real", _("Real counts"), default=False)
    return real, ASK.toggle("scales", _("Scales"), default=False)


def table(case: Case, wanted: tuple[bool, bool]) -> Shown:
    """Show the corrected table as bars."""
    real, scales = wanted
    cells = source_table(real=real, scales=scales)
    picture = table_picture(cells, [several(*each) for each in _NODES], case.line, look())
    return Shown(
        headline=sentence(cells),
        charts=[Chart(picture=picture, file_name="sizes-and-formats")],
        code=CODE.format(real=real, scales=scales),
    )


def sentence(cells: Sequence[Cell]) -> str:
    """Return the largest model in its formats, and the errors of the tutorial."""
    last = [cell for cell in cells if cell.size is cells[-1].size]
    said = _("{model} takes {wide} in {first}, {narrow} in {last}").format(
        model=last[0].size.name,
        wide=two_decimals(last[0].item.amount, look().unit),
        narrow=two_decimals(last[-1].item.amount, look().unit),
        first=f"`{last[0].format_name}`",
        last=f"`{last[-1].format_name}`",
    )
    wrong = sum(cell.was_wrong for cell in cells)
    if not wrong:
        return said
    return said + _("; {wrong} of {all} printed figures were wrong").format(
        wrong=wrong, all=len(cells)
    )
