"""Every link from page to page: what the reader has chosen for all pages goes along.

`lang`, `units`, `present`, `hide` and `lock` live in the address. A click on a link to another page
brings them along, but Streamlit forgets them where a link leads to the page that is shown, and in
every address that is opened in a new tab: the browser part `pages/components/reader` completes the
links that Streamlit makes.
"""

from collections.abc import Mapping
from typing import NoReturn
from urllib.parse import urlencode

import streamlit as st

from pages.shared import link, settings
from pages.shared.navigation import PAGES, page_row


def kept() -> dict[str, str]:
    """Return the frame's settings that are in force, as the address writes them; no defaults."""
    chosen = {name: settings.setting(name) for name in settings.DEFAULTS}
    return {name: value for name, value in chosen.items() if value != settings.DEFAULTS[name]}


def address(page: str, query: Mapping[str, str]) -> str:
    """Return the address of a page, relative to the server.

    A setting of the frame in the query wins over the reader's.
    """
    row = page_row(page)
    path = "/" if row is PAGES[0] else f"/{row.address}"
    together = _with_kept(query)
    return f"{path}?{urlencode(together)}" if together else path


def show_link(page: str, label: str, query: Mapping[str, str], *, icon: str | None = None) -> None:
    """Show a link to a page in a state; arguments as of `address`, `icon` by Streamlit's name.

    To another page Streamlit adds what is kept itself, and would write it twice. An arrow at
    the end of the label never stands on a line of its own.
    """
    label = label.replace(" →", "\N{NO-BREAK SPACE}→")
    together = _with_kept(query) if page == link.current_page() else query
    st.page_link(page_row(page).file, label=label, icon=icon, query_params=together)


def go_to(page: str, query: Mapping[str, str]) -> NoReturn:
    """Leave for another page. Ends the run, like `st.switch_page`.

    Streamlit brings the frame's settings along, from inputs that may not be told again here: what a
    query says about them is written by `choose` before the run.
    """
    own = {name: value for name, value in query.items() if name not in settings.DEFAULTS}
    st.switch_page(page_row(page).file, query_params=own)


def choose(query: Mapping[str, str]) -> None:
    """Write the frame's settings of a query, in a callback: before the frame has shown them."""
    for name in settings.DEFAULTS:
        if name in query:
            st.session_state[name] = query[name]


def _with_kept(query: Mapping[str, str]) -> dict[str, str]:
    left = {name: value for name, value in kept().items() if name not in query}
    return {**query, **left}
