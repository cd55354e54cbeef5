"""What a link carries besides its own settings."""

import pytest

CHOSEN = {"lang": "zh", "units": "GB", "present": "1", "hide": "n", "lock": "1"}
PAGE = """
from pages.shared import page_links
page_links.show_link("demo/one", "Here", {"d_n": "7"})
page_links.show_link("demo/two", "There", {"d_n": "7"})
st.session_state["said"] = page_links.address("demo/two", {"d_n": "7", "units": "GiB"})
if st.button("Go"):
    page_links.go_to("demo/two", {})
"""


def queries(app):
    return [
        dict(pair.split("=") for pair in each.proto.query_string.split("&"))
        for each in app.get("page_link")
    ]


def test_a_link_to_the_page_on_show_carries_what_is_chosen(open_script):
    """To another page Streamlit adds it itself."""
    assert queries(open_script(PAGE, **CHOSEN)) == [{"d_n": "7", **CHOSEN}, {"d_n": "7"}]


def test_an_address_carries_what_is_chosen_unless_it_says_otherwise(open_script):
    app = open_script(PAGE, **CHOSEN)
    own = "/two?d_n=7&units=GiB"
    assert app.session_state["said"] == f"{own}&lang=zh&present=1&hide=n&lock=1"


@pytest.mark.parametrize("query", [{}, CHOSEN])
def test_a_page_can_be_left_by_a_button(open_script, query):
    app = open_script(PAGE, **query)
    app.button[0].click().run()
    assert [each.message for each in app.exception] == []
    assert app.session_state["frame_book"].page == "demo/two"
    assert app.query_params == query


def test_what_the_address_has_lost_returns(open_script):
    """A click before the page has come is sent without it."""
    app = open_script(PAGE, **CHOSEN)
    app.query_params.clear()
    app.run()
    assert app.query_params == CHOSEN


def test_an_arrow_stays_with_the_last_word(open_script):
    app = open_script(
        'from pages.shared import page_links\npage_links.show_link("demo/two", "Go on →", {})'
    )
    assert app.get("page_link")[0].proto.label == "Go on\N{NO-BREAK SPACE}→"
