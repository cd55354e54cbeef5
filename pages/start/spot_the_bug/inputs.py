"""What the page asks for: a card of the deck, which may be narrowed to a subject and a level."""

from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from core.bugs.card import SUBJECTS, Card
from core.bugs.deck import BY_KEY, DECK, choices_of
from core.language import _
from pages.shared import accepts
from pages.shared.inputs import Inputs
from pages.shared.settings import locked, presenting

ASK: Final = Inputs("bug")
ALL: Final = "all"


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """The card on top, and those that pass the filters."""

    card: Card
    cards: tuple[Card, ...]


def choose_case() -> Case:
    """Show the filters, the strip of cards and the way to the next one."""
    line = presenting()  # one line above the card, which then has the whole width
    with st.container(key=ASK.key("line" if line else "rail"), gap="small", horizontal=line):
        cards = _filtered()
        ways = st.container(gap="small")
        case = Case(card=_choose_card(cards), cards=cards)
        with ways:
            _show_ways(case)
            st.caption(tally())
    return case


def predicted(card: Card) -> bool | None:
    """Return whether the reader's prediction of a card was right; None before there is one."""
    key = prediction_key(card)
    chosen = st.session_state.get(key)
    if chosen is None or f"{key}_committed" not in st.session_state:
        return None
    return bool(choices_of(card)[chosen] == "right")


def prediction_key(card: Card) -> str:
    return ASK.key(f"answer_{card.key}")


def tally() -> str:
    answers = [answer for card in DECK if (answer := predicted(card)) is not None]
    return _("{right} of {answered} right").format(right=sum(answers), answered=len(answers))


def title_of(card: Card) -> str:
    return f"{DECK.index(card) + 1} · {_(card.title)}"


def _filtered() -> tuple[Card, ...]:
    """Return the cards of the chosen subject and level; a level without cards counts as all."""
    with st.popover(_("Filter"), key=ASK.key("filter")):
        subject = ASK.selectbox(
            "subject", _("Subject"), (ALL, *SUBJECTS), default=ALL,
            labels=lambda key: _("all") if key == ALL else _(SUBJECTS[key]),
        )  # fmt: skip
        level = ASK.segmented(
            "level", _("Level"), (ALL, "1", "2", "3"), default=ALL,
            labels=lambda key: _("all") if key == ALL else key,
        )  # fmt: skip
    of_subject = tuple(card for card in DECK if subject in (ALL, card.subject))
    return tuple(card for card in of_subject if level in (ALL, str(card.level))) or of_subject


def _choose_card(cards: tuple[Card, ...]) -> Card:
    """Return the chosen card; one that the filters leave out gives way to the first of them."""
    keys = tuple(card.key for card in cards)
    held = st.session_state.get(ASK.key("card"))
    if held in BY_KEY and held not in keys:
        ASK.write("card", keys[0])

    def title(key: str) -> str:
        return title_of(BY_KEY[key])

    def draw(**widget: Any) -> str:  # noqa: ANN401  Streamlit's own
        # On a projector it stands in one line with the buttons.
        widget["label_visibility"] = "collapsed" if presenting() else "visible"
        return str(st.selectbox(_("Card"), keys, format_func=title, **widget))

    return BY_KEY[ASK.choose("card", accepts.one_of(keys, keys[0]), draw)]


def _show_ways(case: Case) -> None:
    """Show the buttons to the card before and after, which also have a key each."""
    at = case.cards.index(case.card)
    ways = {
        "before": (_("Previous"), ":material/arrow_back:", "J", at - 1),
        "after": (_("Next"), ":material/arrow_forward:", "K", at + 1),
    }
    with st.container(horizontal=True, gap="small", key=ASK.key("ways")):
        for name, (label, icon, shortcut, place) in ways.items():
            there = 0 <= place < len(case.cards)
            st.button(
                label,
                key=ASK.key(name),
                icon=icon,
                shortcut=shortcut,
                disabled=locked() or not there,
                on_click=ASK.set,
                args=("card", case.cards[place].key if there else ""),
            )
