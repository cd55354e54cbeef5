"""The tab of two layers: where the factors 2, 4 and 6 come from, and when it is not 6."""

from typing import Final

from streamlit.delta_generator import DeltaGenerator

from core.budget.by_hand.rules import two_layer_flops
from core.budget.item import Item
from core.figures.budget.flops_and_time.two_layer_bars import (
    two_layer_alt,
    two_layer_bars,
    two_layer_table,
)
from core.language import _
from core.units import format_flops
from pages.budget.flops_and_time import places
from pages.budget.flops_and_time.places import PAGE
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

SIZES: Final = tuple(2**power for power in range(17))
CODE: Final = """
from core.budget.by_hand.rules import two_layer_flops

step = two_layer_flops({rows}, {width}, {outputs}, input_needs_gradient={needed})
for item in step.walk():
    print(f"{{item.name:24}} {{item.amount:24,}} = {{item.formula}}")
"""


def show_why_six(row: DeltaGenerator) -> str:
    """Show the tab and return the code of its number."""
    with row:
        rows = _size("rows", _("Rows of x: B"), 1024)
        width = _size("width", _("Width of x and h: D"), 256)
        outputs = _size("outputs", _("Outputs: K"), 64)
        needed = pickers.toggle(
            PAGE, "needed", _("x needs a gradient too"), default=False,
            help=_("In a deep network every input but the first does: it comes from a layer."),
        )  # fmt: skip
    step = two_layer_flops(rows, width, outputs, input_needs_gradient=needed)
    headline(sentence(step))
    _show(step)
    return CODE.format(rows=rows, width=width, outputs=outputs, needed=needed)


def sentence(step: Item) -> str:
    """Return how much more the backward pass costs than the forward pass."""
    forward, backward = step.children
    text = _("Forward {forward}, backward {backward}: {ratio} × as much; by the rule it is 2 ×")
    return text.format(
        forward=format_flops(forward.amount),
        backward=format_flops(backward.amount),
        ratio=f"{backward.amount / forward.amount:.3g}",
    )


def _size(name: str, label: str, default: int) -> int:
    size: int = pickers.select_slider(
        PAGE, name, label, SIZES, default=default, labels=lambda size: f"{size:,}"
    )
    return size


def _show(step: Item) -> None:
    picture, numbers = places.picture_and_numbers()
    with picture:
        show_chart(
            two_layer_bars(step, theme_mode(), present=presenting()),
            key="flops_why_six_chart",
            alt=two_layer_alt(step),
            table=two_layer_table(step),
            file_name="two-layers",
        )
    forward, backward = step.children
    items = [(_("Forward"), forward), (_("Backward"), backward), (_("One step"), step)]
    places.show_numbers(numbers, items)
