"""The tabs of the page of FLOPs and time: only the open one is computed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from streamlit.delta_generator import DeltaGenerator

from core.language import _
from pages.budget.flops_and_time import places
from pages.budget.flops_and_time.components import show_components
from pages.budget.flops_and_time.ladder import show_ladder
from pages.budget.flops_and_time.lines import show_lines
from pages.budget.flops_and_time.matmul import show_matmul
from pages.budget.flops_and_time.mfu import show_mfu
from pages.budget.flops_and_time.places import PAGE
from pages.budget.flops_and_time.roofline import show_roofline
from pages.budget.flops_and_time.six_nd import show_six_nd
from pages.budget.flops_and_time.step_time import show_time
from pages.budget.flops_and_time.transfer import show_transfer
from pages.budget.flops_and_time.two_weeks import show_two_weeks
from pages.budget.flops_and_time.why_six import show_why_six
from pages.shared import pickers
from pages.shared.settings import presenting

CSS: Final = Path(__file__).with_name("page.css")
PICTURES: Final[Mapping[str, Callable[[DeltaGenerator], str]]] = {
    "components": show_components,
    "why": show_why_six,
    "rule": show_six_nd,
    "mfu": show_mfu,
    "roofline": show_roofline,
    "time": show_time,
    "lines": show_lines,
    "budget": show_two_weeks,
    "ladder": show_ladder,
    "matmul": show_matmul,
    "transfer": show_transfer,
}
"""Each shows a tab, its inputs in the given row, and returns the code of its number."""


def tab_label(tab: str) -> str:
    """Return the word on the switch of a tab."""
    return {
        "components": _("Components"),
        "why": _("Why 6?"),
        "rule": _("6ND"),
        "mfu": _("MFU"),
        "roofline": _("Roofline"),
        "time": _("Days"),
        "lines": _("In lines"),
        "budget": _("Two weeks"),
        "ladder": _("Ladder"),
        "matmul": _("Matmul"),
        "transfer": _("Transfer"),
    }[tab]


def choose_tab() -> tuple[str, DeltaGenerator]:
    """Show the tabs and return the open one, and the row for its inputs.

    On a projector eleven tabs would fill two rows: there they are a list, first in the row.
    """
    if presenting():
        row = places.inputs()
        with row:
            return _pick(pickers.selectbox), row
    return _pick(pickers.segmented), places.inputs()


def _pick(picker: Callable[..., str]) -> str:
    return picker(PAGE, "tab", _("Show"), tuple(PICTURES), default="components", labels=tab_label)
