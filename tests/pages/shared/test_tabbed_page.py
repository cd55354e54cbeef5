"""One contract between a page, its tabs, their pictures and their code."""

import pytest

PAGE = """
import plotly.graph_objects as go
from core.budget import Item

def bars(case):
    alt = f"One bar with a height of {case}, and nothing else."
    figure = go.Figure(go.Bar(x=["a"], y=[case]))
    return Chart(picture=Picture(figure=figure, alt=alt, table={"a": [case]}), file_name="bars")

def one(case):
    if case == 9:
        raise ValueError("nine is too many")
    item = Item(name="n", amount=case, unit="s", low=case, high=case, source="us", kind="exact")
    return Shown(headline=f"one: {case}", charts=[bars(case)], numbers=[("N", item)],
                 notes=["a note"], code=f"print({case})")

def own(case, chosen):
    return Shown(headline=f"own: {case} {chosen}", charts=[bars(case)])

def alone(chosen):
    return Shown(headline=f"alone: {chosen}")

def choose(): return d.slider("n", "N", 0, 9, default=3, step=1)
def choose_own(): return d.slider("m", "M", 0, 9, default=5, step=1)
def ask(who): return lambda: st.text(f"asked by {who}")

TABS = {
    "one": Tab(label="One", show=one),
    "own": Tab(label="Own", show=own, choose=choose_own, question=ask("the tab"), reading="own"),
    "alone": Tab(label="Alone", show=alone, choose=choose_own, with_inputs=False),
}
page = dict(inputs=d, tabs=TABS, question=ask("the page"), choose=choose,
            code=lambda case: f"print('page', {case})")
"""
REFUSED = 'page["refusal"] = lambda error: Shown(headline=str(error))'
REFUSED_AT_ONCE = 'page["choose"] = lambda: one(choose())'
SHOW = "tabbed_page(__file__, 'What?', Page(**page))"


@pytest.fixture
def open_tabs(house, open_script):
    """Return open_tabs(change="", **query): the page, changed by a line of Python, opened."""
    for name in ("reading", "own"):
        (house / "demo" / "one" / f"{name}.en.md").write_text(f"Text: {name}.", encoding="utf-8")
    return lambda change="", **query: open_script(f"{PAGE}\n{change}\n{SHOW}", **query)


def words(app):
    return [each.value for each in (*app.markdown, *app.text)]


def test_the_first_tab_is_open_and_all_its_parts_are_shown(open_tabs, said):
    app = open_tabs()
    assert app.session_state["headline"] == "one: 3"
    assert app.session_state["snippets"] == {"one": "print(3)"}
    assert app.get("plotly_chart")[0].proto.alt == "One bar with a height of 3, and nothing else."
    assert app.metric[0].label.startswith("N ")
    assert "a note" in said(app)
    assert "Text: reading." in words(app)
    assert "asked by the page" not in words(app), "until the question is opened"


def test_the_question_is_the_open_tabs_and_asked_when_it_is_opened(open_tabs):
    assert "asked by the page" in words(open_tabs(d_predict="true"))
    assert "asked by the tab" in words(open_tabs(d_predict="true", d_tab="own"))


def test_the_answer_waits_while_a_question_is_open_and_not_answered(open_tabs):
    asks = """
def ask_n():
    predict_then_reveal("d_q", "Which?", [Choice("3"), Choice("4", "no")], "It is 3.")
page["question"] = ask_n"""
    app = open_tabs(asks, d_predict="true")
    assert "one: 3" not in words(app)
    assert not app.metric
    app.radio(key="d_q").set_value(1).run()
    assert "one: 3" not in words(app)
    app.button(key="d_q_reveal").click().run()
    assert "one: 3" in words(app), "said once the reader has committed"
    assert app.metric


def test_a_tab_has_inputs_question_reading_and_code_of_its_own_beside_the_pages(open_tabs):
    app = open_tabs(d_tab="own", d_n="4", d_m="6")
    assert app.session_state["headline"] == "own: 4 6"
    assert app.session_state["snippets"] == {"own": "print('page', 4)"}, "the page's code"
    assert "Text: own." in words(app)


def test_a_tab_without_the_pages_inputs_hides_them_and_keeps_their_values(open_tabs):
    app = open_tabs(d_tab="alone", d_n="4", d_m="6")
    assert app.session_state["headline"] == "alone: 6"
    assert any("page_choices { display: none }" in each.proto.body for each in app.get("html"))
    app.button_group(key="d_tab_choice").set_value("own").run()
    assert app.session_state["headline"] == "own: 4 6"


def test_only_the_open_tab_is_computed(open_tabs):
    counted = 'TABS["own"] = Tab(label="Own", show=lambda case: 1 / 0)'
    assert open_tabs(counted).session_state["headline"] == "one: 3"


def test_choices_that_cannot_be_are_told_where_the_tab_or_the_page_refuses_them(open_tabs):
    for change, code in ((REFUSED, {"one": "print('page', 9)"}), (REFUSED_AT_ONCE, {})):
        app = open_tabs(f"{REFUSED}\n{change}", d_n="9")
        assert app.session_state["headline"] == "nine is too many"
        assert app.session_state["snippets"] == code
        assert [each.key for each in app.slider] == ["d_n"], "the input stays, to be changed"


def test_on_a_projector_the_tabs_are_a_list_and_the_numbers_stand_below(open_tabs):
    app = open_tabs(present="1", d_tab="own")
    assert app.selectbox(key="d_tab_choice").value == "own"
    assert app.selectbox(key="d_tab_choice").options == ["One", "Own", "Alone"]
    assert not open_tabs(present="1").columns[:2][0].get("metric")


def test_inputs_of_the_page_come_before_those_of_the_tab(open_tabs):
    app = open_tabs(d_tab="own")
    assert [each.key for each in app.slider] == ["d_n", "d_m"]
    assert app.session_state["headline"] == "own: 3 5"
