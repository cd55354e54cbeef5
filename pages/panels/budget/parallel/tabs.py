"""The pictures of the parallelism page, one a tab: only the open one is computed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from core.language import _
from pages.panels.budget.parallel.code import show_code_cards
from pages.panels.budget.parallel.inputs import PAGE, Case
from pages.panels.budget.parallel.links import show_links, show_schedule
from pages.panels.budget.parallel.ranks import show_ranks, show_sharding, show_stages
from pages.panels.budget.parallel.ring import show_ring
from pages.shared import pickers

CSS: Final = Path(__file__).with_name("parallel.css")
NO_INPUTS: Final = Path(__file__).with_name("parallel_without_inputs.css")
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
