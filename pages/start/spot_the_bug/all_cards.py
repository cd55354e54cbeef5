"""All cards by subject, each with its link; values stand where the reader has predicted them."""

from itertools import groupby
from typing import Final

import streamlit as st

from core.bugs.card import SUBJECTS
from core.bugs.deck import DECK
from core.language import _, ngettext
from pages.shared.page_links import show_link
from pages.shared.settings import presenting
from pages.shared.tabbed_page import Shown
from pages.start.spot_the_bug.card import open_label
from pages.start.spot_the_bug.inputs import ASK, Case, tally

_PRESENTED: Final = 12  # titles on a projector
CODE: Final = """
from core.bugs.deck import DECK

for number, card in enumerate(DECK, start=1):
    print(number, card.subject, card.level, card.title)
"""


def all_cards(case: Case) -> Shown:
    """List the cards that pass the filters."""
    cards = case.cards[:_PRESENTED] if presenting() else case.cards
    with st.container(key=ASK.key("list"), gap=None):
        for subject, group in groupby(cards, key=lambda card: card.subject):
            st.markdown(f"**{_(SUBJECTS[subject])}**")
            for card in group:
                query = {ASK.key("card"): card.key}
                show_link("start/spot_the_bug", open_label(card), query)
    return Shown(headline=_headline(case), code=CODE)


def _headline(case: Case) -> str:
    count = len(case.cards)
    words = ngettext("{count} card, wrong as it stands", "{count} cards, all wrong as they stand",
                     count).format(count=count)  # fmt: skip
    return words if count < len(DECK) else f"{words}: {tally()}"
