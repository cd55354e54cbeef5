"""Training memory: every tab, extreme settings, and what is refused."""

import pytest

from pages.panels.budget.memory_tabs import TABS

PAGE = "budget/training_memory"


def headline(app):
    assert [each.value for each in app.exception] == []
    return app.session_state["headline"]


def alt(app):
    return app.get("plotly_chart")[0].proto.alt


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_has_a_headline_and_a_picture(open_page, tab):
    app = open_page(PAGE, memory_tab=tab)
    assert len(headline(app)) > 20
    assert len(alt(app)) > 40
