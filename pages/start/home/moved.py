"""Links to what stood on Home before: the cards about the machine have a page of their own now."""

from typing import Final

import streamlit as st

from pages.shared import link, page_links

_PAGE: Final = "start/machine"
CARDS: Final = {"environment": "machine", "stack": "stack", "install": "install"}
"""What the address called a card -> its tab."""
_CARD: Final = "home_card"
_SETTINGS: Final = {"home_system": "machine_system", "home_build": "machine_build"}


def follow_moved_cards() -> None:
    """Lead an old link on to the page that shows its card; a closed card is Home itself."""
    tab = CARDS.get(link.raw_value(_CARD) or "")
    if tab is not None:
        known = {new: st.query_params.get(old) for old, new in _SETTINGS.items()}
        chosen = {name: value for name, value in known.items() if value and tab == "install"}
        page_links.go_to(_PAGE, {"machine_tab": tab, **chosen})
    for name in (_CARD, *_SETTINGS):
        if link.raw_value(name) is not None:
            link.settle(name, None)
