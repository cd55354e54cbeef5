"""All cards by subject, each with its link; values stand where the reader has predicted them."""

from itertools import groupby
from typing import Final

import streamlit as st

from core.bugs.card import SUBJECTS, Card
from core.bugs.deck import DECK
from core.language import _, ngettext
from pages.shared.page_links import show_link
from pages.shared.settings import presenting
from pages.shared.tabbed_page import Shown
from pages.start.spot_the_bug.card import kept, shown_value
from pages.start.spot_the_bug.inputs import ASK, Case, predicted, tally, title_of

_PRESENTED: Final = 8  # rows on a projector
_OPEN: Final = "…"
_MARKS: Final = {None: "", True: " ✓", False: " ✗"}  # how the reader predicted a card
_WIDTHS: Final = (4, 6, 2)
CODE: Final = """
from core.bugs.deck import DECK

for number, card in enumerate(DECK, start=1):
    print(number, card.subject, card.level, card.title)
"""


def all_cards(case: Case) -> Shown:
    """List the cards that pass the filters: title, claim and, once predicted, what is true."""
    cards = case.cards[:_PRESENTED] if presenting() else case.cards
    with st.container(key=ASK.key("list"), gap=None):
        for subject, group in groupby(cards, key=lambda card: card.subject):
            st.markdown(f"**{_(SUBJECTS[subject])}**")
            for card in group:
                _show_row(card)
    return Shown(headline=_headline(case), code=CODE)


def _show_row(card: Card) -> None:
    """Show one card; its values are known once the reader has run it."""
    is_open = predicted(card) is None or card.key not in kept()
    claimed = _OPEN if is_open else shown_value(kept()[card.key].wrong)
    title, claim, computed = st.columns(_WIDTHS, gap="small")
    with title:
        label = f"{title_of(card)}{_MARKS[predicted(card)]}"
        show_link("start/spot_the_bug", label, {ASK.key("card"): card.key})
    if not presenting():
        claim.caption(_(card.claim).format(wrong=claimed))
    if not is_open:
        computed.markdown(shown_value(kept()[card.key].right))


def _headline(case: Case) -> str:
    count = len(case.cards)
    words = ngettext("{count} card, wrong as it stands", "{count} cards, all wrong as they stand",
                     count).format(count=count)  # fmt: skip
    if count < len(DECK):
        return words
    return _("{choice}: {value}").format(choice=words, value=tally())
