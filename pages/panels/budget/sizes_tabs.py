"""The tabs of the page of model sizes: only the open one is computed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from core.language import _
from pages.panels.budget.sizes_inputs import PAGE, Case
from pages.panels.budget.sizes_model import show_model
from pages.panels.budget.sizes_parts import show_parts
from pages.panels.budget.sizes_table import show_table
from pages.panels.budget.sizes_tensor import show_tensor
from pages.shared import pickers

CSS: Final = Path(__file__).with_name("sizes.css")
PICTURES: Final[Mapping[str, Callable[[Case], str]]] = {
    "model": show_model,
    "table": show_table,
    "parts": show_parts,
    "tensor": show_tensor,
}


def tab_label(tab: str) -> str:
    """Return the word on the switch of a tab."""
    return {
        "model": _("One model"),
        "table": _("7B, 13B, 70B"),
        "parts": _("Parts"),
        "tensor": _("One tensor"),
    }[tab]


def choose_tab() -> str:
    """Show the tabs and return the open one."""
    return pickers.segmented(
        PAGE, "tab", _("Show"), tuple(PICTURES), default="model", labels=tab_label
    )
