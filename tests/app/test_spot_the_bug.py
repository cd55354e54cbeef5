"""Spot the bug: a card is predicted, then run; the strip, the tally and the list remember it."""

import pytest

from core.bugs.deck import BY_KEY, DECK, choices_of
from pages.start.spot_the_bug.card import kept
from tests.app.shown import headline, page_links, said

PAGE = "start/spot_the_bug"
GIB = "gib-called-gb"


def answer(app, key, choice):
    """Choose "right", "wrong" or "other" and run the card."""
    name = f"bug_answer_{key}"
    app.radio(key=name).set_value(choices_of(BY_KEY[key]).index(choice)).run()
    return app.button(key=f"{name}_reveal").click().run()


def test_the_answer_is_on_the_page_only_after_the_reader_has_chosen(open_page, run_code):
    app = open_page(PAGE, bug_card=GIB)
    assert app.get("plotly_chart") == []
    assert "computed" not in said(app)
    assert run_code(app).split() == [str(7e9 * 4 / 1024**3)]

    answer(app, GIB, "wrong")
    assert "claimed 26.1 GB, computed **28.0 GB**" in headline(app)
    (chart,) = app.get("plotly_chart")
    assert "28.0 GB" in chart.proto.alt
    assert run_code(app).split() == [str(7e9 * 4 / 1024**3), "28.0"]


def test_the_tally_counts_what_was_right_in_this_session(open_page):
    app = answer(open_page(PAGE, bug_card=GIB), GIB, "right")
    assert "1 of 1 right" in said(app)
    app.button(key="bug_after").click().run()
    following = DECK[DECK.index(BY_KEY[GIB]) + 1].key
    assert app.radio(key=f"bug_answer_{following}").value is None
    answer(app, following, "other")
    assert "1 of 2 right" in said(app)


def test_the_list_has_every_card_and_the_values_of_those_that_were_run(open_page):
    app = open_page(PAGE, bug_tab="all")
    here = [each for each in page_links(app) if "bug_card=" in each.query_string]
    assert len(here) >= len(DECK)
    assert "28.0 GB" not in said(app)
    app = answer(open_page(PAGE, bug_card=GIB), GIB, "right")
    app.segmented_control(key="bug_tab_choice").set_value("all").run()
    assert "28.0 GB" in said(app)


def test_filters_show_the_first_card_of_a_subject_and_a_level(open_page):
    app = open_page(PAGE, bug_subject="models", bug_level="2")
    first = next(card for card in DECK if (card.subject, card.level) == ("models", 2))
    assert f"bug_answer_{first.key}" in [each.key for each in app.radio]


def test_the_list_says_how_many_claims_of_the_deck_are_wrong_and_of_no_part(open_page):
    wrong = sum(not card.holds for card in DECK)
    assert 8 <= len(DECK) - wrong < wrong
    assert headline(open_page(PAGE, bug_tab="all")).startswith(f"{wrong} of {len(DECK)} claims ")


def test_a_claim_that_is_true_is_judged_and_shown_beside_what_many_expect(open_page):
    key = "kv-cache-of-seventy"
    app = open_page(PAGE, bug_card=key)
    assert "True or false?" in said(app)
    options = app.radio(key=f"bug_answer_{key}").options
    assert sorted(options) == ["False: 2,560 KiB", "False: 512 KiB", "True: 320 KiB"]
    app = answer(app, key, "wrong")
    assert headline(app).endswith("computed **320 KiB**, as claimed")
    assert "The claim is true" in said(app)
    assert "often expected 2,560 KiB" in app.get("plotly_chart")[0].proto.alt
    app.segmented_control(key="bug_tab_choice").set_value("all").run()
    assert "True: 320 KiB" in said(app)


def test_what_torch_says_stands_beside_the_answer(open_page):
    app = answer(open_page(PAGE, bug_card="view-or-reshape"), "view-or-reshape", "right")
    assert "view size is not compatible" in " ".join(each.value for each in app.code)


@pytest.mark.slow
@pytest.mark.parametrize("card", DECK, ids=[card.key for card in DECK])
def test_every_card_is_answered_and_leads_to_a_page_that_takes_its_link(open_page, card):
    revealed = f"bug_answer_{card.key}_committed"
    app = open_page(PAGE, opened=[revealed], bug_card=card.key)
    assert [each.value for each in app.exception] == []
    assert kept()[card.key].right.text in headline(app)
    there = open_page(card.page, **card.query)
    assert [each.value for each in there.exception] == []
    captions = " ".join(each.value for each in there.caption)
    assert [name for name in card.query if f"`{name}`" in captions] == []
