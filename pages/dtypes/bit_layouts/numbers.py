"""What each format reaches: from its smallest to its largest number, its step, its digits."""

from streamlit.delta_generator import DeltaGenerator

from core.dtypes import FORMATS
from core.dtypes.facts.format_facts import format_facts, short_number
from core.language import _
from pages.dtypes.bit_layouts.finfo import show_finfo
from pages.dtypes.bit_layouts.inputs import GROUPS, HIGHLIGHTS, PAGE, picked_group
from pages.dtypes.bit_layouts.snippets import ranges_snippet
from pages.shared import pickers, settings
from pages.shared.charts import show_chart
from pages.shared.header import headline


def show_numbers(bar: DeltaGenerator) -> str:
    """Show the ranges of a group, or torch.finfo beside them; return a program that prints them."""
    with bar:
        group = picked_group()
        view = pickers.segmented(
            PAGE, "view", _("As"), ["ranges", "finfo"], default="ranges", labels=view_label
        )
    if view == "finfo":
        show_finfo(group)
    else:
        _draw_ranges(group)
    return ranges_snippet(GROUPS[group])


def view_label(view: str) -> str:
    """Return the word on the switch between the picture and the table."""
    return {"ranges": _("Picture"), "finfo": "torch.finfo"}[view]


def _draw_ranges(group: str) -> None:
    from core.figures.dtypes.bit_layouts.format_ranges import (
        format_ranges_alt,
        format_ranges_figure,
        format_table,
    )

    facts = [format_facts(FORMATS[name]) for name in GROUPS[group]]
    shown = [
        f"`{each.name}` {short_number(each.eps, 8)}"
        for each in facts
        if each.name in HIGHLIGHTS[group] and each.eps is not None
    ]
    headline(_("Gap above 1 (eps): {numbers}").format(numbers=" · ".join(shown)))
    show_chart(
        format_ranges_figure(facts, settings.theme_mode(), present=settings.presenting()),
        key="bits_numbers",
        alt=format_ranges_alt(facts),
        table=format_table(facts),
        file_name="ranges-of-number-formats",
    )
