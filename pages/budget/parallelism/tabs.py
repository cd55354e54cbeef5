"""The pictures of the parallelism page, one a tab: only the open one is computed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from core.language import _
from pages.budget.parallelism.inputs import PAGE, Case
from pages.budget.parallelism.links import show_links, show_schedule
from pages.budget.parallelism.programs_tab import show_code_cards
from pages.budget.parallelism.ranks import show_ranks, show_sharding, show_stages
from pages.budget.parallelism.ring import show_ring
from pages.shared import pickers

CSS: Final = Path(__file__).with_name("page.css")
NO_INPUTS: Final = Path(__file__).with_name("without_inputs.css")
PICTURES: Final[Mapping[str, Callable[[Case], None]]] = {
    "ranks": show_ranks,
    "stages": show_stages,
    "sharding": show_sharding,
    "links": show_links,
    "schedule": show_schedule,
}
ALONE: Final[Mapping[str, Callable[[], None]]] = {"ring": show_ring, "code": show_code_cards}
"""Pictures that are the same for every model: they get the room of the page's inputs."""
TABS: Final = ("ranks", "stages", "sharding", "ring", "links", "schedule", "code")


def tab_label(tab: str) -> str:
    """Return the word on the switch of a tab."""
    return {
        "ranks": _("Ranks"),
        "stages": _("Stages"),
        "sharding": _("DDP and FSDP"),
        "ring": _("All-reduce"),
        "links": _("Links"),
        "schedule": _("Pipeline"),
        "code": _("Programs"),
    }[tab]


def choose_tab() -> str:
    """Show the tabs and return the open one."""
    return pickers.segmented(PAGE, "tab", _("Show"), TABS, default="ranks", labels=tab_label)
