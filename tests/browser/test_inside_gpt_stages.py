"""The stages of a GPT and one head of it, as a reader sees them on a laptop and on a projector."""

import pytest

from tests.browser.seen import until_headline
from tests.browser.test_every_page import check_first_look, check_projector, settle

KEY = "models/inside_gpt"
TABS = ("stages", "attention")


@pytest.mark.parametrize("tab", TABS)
def test_the_picture_is_wholly_on_the_first_screen(new_page, visit, tab):
    page = visit(new_page(1366, 768), "/inside-gpt", inside_tab=tab)
    settle(page)
    check_first_look(page, KEY)


@pytest.mark.parametrize("tab", TABS)
def test_a_projector_shows_large_text_and_the_whole_picture(new_page, visit, tab):
    page = visit(new_page(1024, 768), "/inside-gpt", inside_tab=tab, present="1")
    settle(page)
    check_projector(page, KEY)


def test_next_leads_to_the_next_stage_and_into_the_address(new_page, visit):
    page = visit(new_page(1366, 768), "/inside-gpt", inside_tab="stages")
    page.get_by_role("button", name="Next", exact=True).click()
    until_headline(page, "Causal mask")
    page.until("location.search.includes('inside_stage=attention.mask')")
