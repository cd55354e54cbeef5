"""A list with links and ticks; the ticks stay in this browser and are never sent to the server."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import streamlit as st

from pages.components.part import browser_part

Layout = Literal["list", "across", "folded"]
STORAGE_KEY: Final = "bits-to-gpt-ticks"
_mount = browser_part(__file__, html='<div class="ticks"></div>')


@dataclass(frozen=True, kw_only=True, slots=True)
class TickRow:
    """One row: its slug is remembered; a click on its title reports `opens` and shows `address`."""

    slug: str
    title: str
    opens: str = ""
    address: str = ""
    detail: str = ""
    needs: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class TickGroup:
    """Rows under one heading."""

    title: str
    rows: tuple[TickRow, ...]


def ticks(
    groups: Sequence[TickGroup],
    *,
    key: str,
    words: Mapping[str, str],
    on_open: Callable[[str], None],
    layout: Layout = "list",
    suggest: bool = True,
) -> None:
    """Show the rows as a list, across side by side, or folded: only the group to do next is open.

    The words are "next" (before the row to do next, where `suggest` names it above the list) and
    "done" (label of a tick, with {title}). `on_open` is called with `opens` of the row whose title
    was clicked, before the page runs again.
    """
    data: dict[str, Any] = {
        "groups": [asdict(group) for group in groups],
        "words": dict(words),
        "storage": STORAGE_KEY,
        "layout": layout,
        "suggest": suggest,
    }

    def opened() -> None:
        on_open(str(st.session_state[key]["open"]))

    _mount(key=key, data=[data], height="content", on_open_change=opened)
