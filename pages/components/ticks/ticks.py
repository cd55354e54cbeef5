"""A list with links and ticks; the ticks stay in this browser and are never sent to the server."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

import streamlit as st

Layout = Literal["list", "across", "folded"]
STORAGE_KEY: Final = "bits-to-gpt-ticks"
_FOLDER: Final = Path(__file__).parent
_mount = st.components.v2.component(
    "ticks",
    html='<div class="ticks"></div>',
    js=(_FOLDER / "ticks.js").read_text(encoding="utf-8"),
    css=(_FOLDER / "ticks.css").read_text(encoding="utf-8"),
)


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
    """Show the rows.

    Args:
        groups: Headings with their rows, in the reader's language.
        key: The key of this part on its page.
        words: "next" (before the suggested row) and "done" (label of a tick, with {title}).
        on_open: Called with `opens` of the row whose title was clicked, before the page runs again.
        layout: "list", one group under another; "across", side by side; "folded", one group open,
            that of the row to do next, the others saying how much is done.
        suggest: Name the row to do next above the list.
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

    # Streamlit loads pandas to look into a dict, but not into a list.
    _mount(key=key, data=[data], height="content", on_open_change=opened)
