"""The stages of a GPT and one head of it, as a reader sees them on a laptop and on a projector."""

import pytest

from tests.browser.seen import until_headline
from tests.browser.test_every_page import (
    check_first_look,
    check_projector,
    fits_every_screen,
    settle,
)

KEY = "models/inside_gpt"
LONGEST = "attention.qkv"
STATES = [
    {"inside_tab": "stages", "inside_stage": LONGEST},
    {"inside_tab": "stages", "inside_stage": "attention.heads"},
    {"inside_tab": "stages", "inside_stage": "feed_forward.activation"},
    {"inside_tab": "attention", "inside_layer": "2", "inside_head": "2"},
]
each_state = pytest.mark.parametrize("state", STATES, ids=lambda state: "-".join(state.values()))


@each_state
def test_the_picture_is_wholly_on_the_first_screen_and_nothing_is_cut(new_page, visit, state):
    page = visit(new_page(1366, 768), "/inside-gpt", **state)
    settle(page)
    check_first_look(page, KEY)
    assert list(fits_every_screen(page)) == [1366, 1024]


@each_state
def test_a_projector_shows_large_text_and_the_whole_picture(new_page, visit, state):
    page = visit(new_page(1024, 768), "/inside-gpt", present="1", **state)
    settle(page)
    check_projector(page, KEY)


def test_later_leads_to_the_next_stage_and_into_the_address(new_page, visit):
    page = visit(new_page(1366, 768), "/inside-gpt", inside_tab="stages")
    page.get_by_role("button", name="Later", exact=True).click()
    until_headline(page, "Causal mask")
    page.until("location.search.includes('inside_stage=attention.mask')")
