"""All cards by subject, each with its link; values stand where the reader has predicted them."""

from itertools import groupby
from typing import Final

import streamlit as st

from core.bugs.card import SUBJECTS, Card
from core.bugs.deck import DECK
from core.language import N_, _, ngettext
from pages.shared.page_links import show_link
from pages.shared.settings import presenting
from pages.shared.tabbed_page import Shown, Tab
from pages.start.spot_the_bug.card import judged, kept, shown_value
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
    outcome = None if is_open else kept()[card.key]
    values = {
        name: _OPEN if outcome is None else shown_value(getattr(outcome, name))
        for name in ("wrong", "right")
    }
    title, claim, computed = st.columns(_WIDTHS, gap="small")
    with title:
        label = f"{title_of(card)}{_MARKS[predicted(card)]}"
        show_link("start/spot_the_bug", label, {ASK.key("card"): card.key})
    if not presenting():
        claim.caption(_(card.claim).format(**values))
    if outcome:
        computed.markdown(judged(outcome.right, is_true=card.holds))


def _headline(case: Case) -> str:
    """Return how many claims of the deck are wrong; of a part it would tell the answer."""
    count = len(case.cards)
    words = ngettext("{count} card", "{count} cards", count).format(count=count)
    if count == len(DECK):
        num_wrong = sum(not card.holds for card in DECK)
        words = _("{wrong} of {count} claims are wrong").format(wrong=num_wrong, count=count)
    return _("{choice}: {value}").format(choice=words, value=tally())


TAB: Final = Tab(label=N_("All cards"), show=all_cards)
