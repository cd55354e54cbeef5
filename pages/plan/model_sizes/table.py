"""7B, 13B and 70B in five formats: a tutorial's table, corrected."""

from collections.abc import Sequence
from typing import Final

from core.budget.weights.sizes import Cell, source_table
from core.budget.weights.stored import bits_per_value, num_in_format
from core.figures.budget.model_sizes.table import table_picture, two_decimals
from core.language import _
from pages.plan.model_sizes.inputs import ASK, several
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

CODE: Final = """
sizes = {sizes}  # parameters, and how many of them are stored in the format
bits_per_weight = {bits}

for model, (num_params, num_in_format) in sizes.items():
    for name, bits in bits_per_weight.items():
        other_bits = 32 if name == "float32" else 16
        num_bytes = (num_in_format * bits + (num_params - num_in_format) * other_bits) / 8
        print(f"{{model:12}} {{name:14}} {{num_bytes / 2**30:7.2f}} GiB")
"""
_NODES: Final = (("rtx-4090", 1), ("h100-sxm", 1), ("h100-sxm", 2))


def choose_table() -> tuple[bool, bool]:
    """Return whether real counts and scales are wanted."""
    real = ASK.toggle("real", _("Exact parameter counts"), default=False)
    return real, ASK.toggle("scales", _("Include scale factors"), default=False)


def table(wanted: tuple[bool, bool]) -> Shown:
    """Show the corrected table as bars."""
    real, scales = wanted
    cells = source_table(real=real, scales=scales)
    picture = table_picture(cells, [several(*each) for each in _NODES], look())
    return Shown(
        headline=sentence(cells),
        charts=[Chart(picture=picture, file_name="sizes-and-formats")],
        code=write_code(cells, scales=scales),
    )


def write_code(cells: Sequence[Cell], *, scales: bool) -> str:
    """Return Python that works out every cell."""
    sizes = {
        cell.size.name: (
            cell.size.num_params,
            num_in_format(cell.size, cell.format_name, rest_in_16_bits=scales),
        )
        for cell in cells
    }
    names = dict.fromkeys(cell.format_name for cell in cells)
    return CODE.format(sizes=sizes, bits={name: bits_per_value(name) for name in names})


def sentence(cells: Sequence[Cell]) -> str:
    """Return the largest model in its formats, and the errors of the tutorial."""
    last = [cell for cell in cells if cell.size is cells[-1].size]
    said = _("{model} takes {wide} in {first}, {narrow} in {last}").format(
        model=last[0].size.name,
        wide=two_decimals(last[0].item.amount, look().unit),
        narrow=two_decimals(last[-1].item.amount, look().unit),
        first=last[0].format_name,
        last=last[-1].format_name,
    )
    wrong = sum(cell.was_wrong for cell in cells)
    if not wrong:
        return said
    return said + _("; {wrong} of {all} printed figures were wrong").format(
        wrong=wrong, all=len(cells)
    )
