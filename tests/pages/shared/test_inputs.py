"""Inputs that live in the address: read, kept, hidden, locked, refused."""

import pytest

ALL = """
n = d.slider("n", "N", 0, 10, default=3, step=1)
x = d.number("x", "X", 0.0, 1.0, default=0.5, step=0.1)
on = d.toggle("on", "On", default=False)
word = d.text("word", "Word", default="hi", max_chars=5)
labels = {"small": "a small one", "big": "a big one"}.__getitem__
size = d.segmented("size", "Size", ["small", "big"], default="small", labels=labels)
batch = d.select_slider("batch", "Batch", [1, 2, 4], default=2)
list_ = d.selectbox("list", "List", ["a", "b"], default="b")
st.session_state["got"] = (n, x, on, word, size, batch, list_)
st.session_state["values"] = dict(link.values())
"""
DEFAULTS = (3, 0.5, False, "hi", "small", 2, "b")
LINK = {
    "d_n": "7",
    "d_x": "0.25",
    "d_on": "true",
    "d_word": "yo",
    "d_size": "big",
    "d_batch": "4",
    "d_list": "a",
}
VALUES = (7, 0.25, True, "yo", "big", 4, "a")
BAD = {
    "d_n": ("99", "a whole number from 0 to 10", "3"),
    "d_x": ("nan", "0.0 to 1.0", "0.5"),
    "d_on": ("maybe", "one of `true`, `false`", "false"),
    "d_size": ("huge", "one of `small`, `big`", "small"),
    "d_batch": ("3", "one of `1`, `2`, `4`", "2"),
    "d_list": ("z", "one of `a`, `b`", "b"),
}


def test_without_a_link_every_input_has_its_default(open_script, said):
    app = open_script(ALL)
    assert app.session_state["got"] == DEFAULTS
    assert said(app) == []


def test_a_link_sets_every_input(open_script, said):
    app = open_script(ALL, **LINK)
    assert app.session_state["got"] == VALUES
    assert app.query_params == LINK
    assert said(app) == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_click_writes_the_word_of_the_option_and_not_its_label(open_script, lang):
    app = open_script(ALL, lang=lang)
    app.button_group(key="d_size_choice").set_value("big")
    app.select_slider(key="d_batch_choice").set_value(4)
    app.selectbox(key="d_list_choice").set_value("a")
    app.run()
    assert app.session_state["got"][4:] == ("big", 4, "a")
    written = {name: value for name, value in app.query_params.items() if name != "lang"}
    assert written == {"d_size": "big", "d_batch": "4", "d_list": "a"}


def test_a_slider_that_was_moved_is_not_ordered_back_by_its_own_picture(open_script):
    """A picture that comes late would take it from under the hand that has moved it on."""
    app = open_script(ALL + BUTTONS)
    slider = app.select_slider(key="d_batch_choice")
    assert (slider.value, slider.proto.set_value) == (2, True)
    slider.set_value(4).run()
    slider = app.select_slider(key="d_batch_choice")
    assert (slider.value, slider.proto.set_value) == (4, False)
    assert list(slider.proto.default) == [2], "the third stop, for a browser that draws it now"
    slider.set_value(1).run()
    app.button(key="point").click().run()
    slider = app.select_slider(key="d_batch_choice")
    assert (slider.value, slider.proto.set_value) == (4, True), "a button has moved it"


STOPS = """
st.session_state.setdefault("times", 0)
if st.button("Other words", key="other"):
    st.session_state["times"] += 1
letter = "ab"[st.session_state["times"] % 2]
words = lambda stop: f"{stop} {letter}"
st.session_state["got"] = d.select_slider("x", "X", [1, 2, 3], default=2, labels=words)
"""


def test_a_slider_whose_stops_have_other_words_is_told_where_it_stands(open_script):
    app = open_script(STOPS)
    app.select_slider(key="d_x_choice").set_value(3).run()
    app.button(key="other").click().run()
    slider = app.select_slider(key="d_x_choice")
    assert (slider.proto.set_value, list(slider.proto.raw_value)) == (True, ["3 b"])
    assert app.session_state["got"] == 3


BUTTONS = """
def press():
    d.set("n", 8)
    d.set("size", "big")
st.button("Set", key="set", on_click=press)
st.button("Point", key="point", on_click=lambda: d.write("batch", 4))
"""


def test_a_button_writes_inputs_and_the_control_of_a_choice_follows(open_script):
    app = open_script(ALL + BUTTONS)
    app.button(key="set").click().run()
    app.button(key="point").click().run()
    assert app.session_state["got"] == (8, 0.5, False, "hi", "big", 4, "b")
    assert app.button_group(key="d_size_choice").value == "big"


def test_on_a_locked_page_a_button_writes_only_what_is_explained(open_script):
    app = open_script(ALL + BUTTONS, lock="1")
    app.button(key="set").click().run()
    app.button(key="point").click().run()
    assert app.session_state["got"] == (3, 0.5, False, "hi", "small", 4, "b")


@pytest.mark.parametrize("name", BAD)
def test_a_refused_link_value_is_named_with_range_and_replacement(open_script, said, name):
    value, allowed, used = BAD[name]
    app = open_script(ALL, **{name: value})
    assert app.session_state["got"] == DEFAULTS
    sentence = (
        f"The link's value `{name}` = `{value}` was not accepted: "
        f"allowed is {allowed}; `{used}` is used instead."
    )
    assert said(app) == [sentence]
    app.run()
    assert said(app) == [sentence], "the sentence stands until the reader chooses"


def test_too_long_a_text_is_cut_and_the_frame_says_so(open_script, said):
    app = open_script(ALL, d_word="abcdefgh")
    assert app.session_state["got"][3] == "abcde"
    assert "at most 5 characters; `abcde` is used instead" in said(app)[0]


def test_the_sentence_goes_when_the_reader_chooses_another_value(open_script, said):
    app = open_script(ALL, d_n="99", d_size="huge")
    app.slider(key="d_n").set_value(4)
    app.button_group(key="d_size_choice").set_value("big")
    app.run()
    assert said(app) == []


def test_a_name_that_no_input_has_is_named(open_script, said):
    app = open_script(ALL, d_layers="4")
    assert said(app) == ["The link sets `d_layers` = `4`; this page has no such setting."]


SOMETIMES = """
if d.toggle("open", "Open", default=True):
    d.slider("inner", "Inner", 0, 9, default=1, step=1)
"""


def test_an_input_that_the_last_click_closed_is_no_stranger_to_the_page(open_script, said):
    app = open_script(SOMETIMES, d_inner="4")
    app.toggle(key="d_open").set_value(False)
    app.query_params["d_inner"] = "4"  # what the address still says while this click is answered
    app.run()
    assert said(app) == []


def test_a_link_value_is_shown_plain_and_short(open_script, said):
    app = open_script(ALL, d_n="`**x**`\n" + "y" * 500)
    assert len(said(app)[0]) < 250
    assert "`?**x**??yyy" in said(app)[0]


@pytest.mark.parametrize("hide", ["n,size", "d_n, d_size"])
def test_a_hidden_input_is_absent_but_its_link_value_holds(open_script, hide, said):
    app = open_script(ALL, hide=hide, d_n="7", d_size="big")
    assert len(app.slider) == 0
    assert [each.key for each in app.button_group if each.key.startswith("d_")] == []
    app.run()
    assert app.session_state["got"] == (7, 0.5, False, "hi", "big", 2, "b")
    assert app.session_state["values"]["d_n"] == "7"
    assert said(app) == []


OUT_OF_SIGHT = """
from pages.shared.inputs import Inputs
from pages.shared.sides import out_of_sight
ask = Inputs("demo")
with out_of_sight("demo"):
    many = ask.slider("many", "Many", 1, 9, default=3, step=1)
    one = ask.selectbox("one", "One", ("a", "b"), default="a")
st.button("back", on_click=lambda: (ask.set("many", 3), ask.set("one", "a")))
st.session_state["read"] = (many, one)
"""


def fields_of(app):
    return [each.key for each in (*app.slider, *app.text_input) if each.key.startswith("demo_")]


def test_an_input_out_of_sight_has_a_field_only_while_it_is_not_at_its_default(open_script):
    app = open_script(OUT_OF_SIGHT)
    assert app.session_state["read"] == (3, "a")
    assert fields_of(app) == []

    app = open_script(OUT_OF_SIGHT, demo_many="7", demo_one="b")
    assert app.session_state["read"] == (7, "b")
    assert fields_of(app) == ["demo_many", "demo_one"]

    app.button[0].click().run().run()
    assert app.session_state["read"] == (3, "a")


def test_a_hidden_input_keeps_what_it_was_when_it_was_seen(open_script):
    app = open_script(ALL)
    app.slider(key="d_n").set_value(9).run()
    app.text_input(key="hide").set_value("n").run()
    assert len(app.slider) == 0
    assert app.session_state["got"][0] == 9


def test_a_locked_page_shows_its_inputs_but_nobody_can_change_them(open_script):
    app = open_script(ALL, lock="1", d_n="7")
    inputs = [*app.slider, *app.number_input, *app.toggle, *app.select_slider, *app.selectbox]
    assert [each.disabled for each in inputs] == [True] * 5
    assert app.button_group(key="d_size_choice").disabled
    assert not app.button_group(key="lang_choice").disabled
    assert app.session_state["got"][0] == 7


def test_a_link_that_says_the_default_overrules_what_the_session_had(open_script):
    app = open_script(ALL, **LINK)
    for name, value in {"d_n": "3", "d_size": "small", "d_on": "false"}.items():
        app.query_params[name] = value
    app.run()
    assert app.session_state["got"] == (3, 0.25, False, "yo", "small", 4, "a")


LIMITS = """
most = d.slider("most", "Most", 1, 9, default=9, step=1)
n = d.slider("n", "N", 1, most, default=1, step=1)
x = d.select_slider("x", "X", range(1, most + 1), default=1)
st.session_state["got"] = (most, n, x)
"""


def test_a_slider_whose_limit_comes_closer_goes_to_its_end(open_script, said):
    app = open_script(LIMITS, d_n="7")
    app.slider(key="d_most").set_value(4).run()
    assert app.session_state["got"][:2] == (4, 4)
    assert said(app) == [], "the reader has chosen it, no link"


def test_where_there_is_one_stop_a_sentence_stands_instead(open_script, said):
    app = open_script(LIMITS, d_most="1")
    assert app.session_state["got"] == (1, 1, 1)
    assert [slider.key for slider in app.slider] == ["d_most"]
    assert len(said(app)) == 2


def test_a_number_that_streamlit_cannot_hold_is_refused(open_script, said):
    app = open_script(ALL, d_n="inf", d_x="-inf")
    assert app.session_state["got"] == DEFAULTS
    assert len(said(app)) == 2
    assert app.query_params == {}


def test_an_option_that_another_input_has_taken_away_gives_way_without_a_word(open_script):
    script = """
from pages.shared.inputs import Inputs
demo = Inputs("demo")
few = demo.toggle("few", "Few", default=False)
demo.select_slider("size", "Size", (1, 2) if few else (1, 2, 4, 8), default=2)
"""
    app = open_script(script, demo_size="8")
    assert app.session_state["frame_book"].used["demo_size"] == 8
    app.toggle(key="demo_few").set_value(True).run()
    assert app.session_state["frame_book"].used["demo_size"] == 2
    assert app.session_state["frame_book"].refusals == {}


def test_the_next_click_does_not_take_the_one_before_back_whose_picture_has_not_come(open_script):
    """The browser still sends the unseen field's old word: the control that is seen has the new."""
    script = """
from pages.shared.inputs import Inputs
demo = Inputs("demo")
demo.select_slider("size", "Size", (1, 2, 4, 8), default=2)
demo.segmented("way", "Way", ("a", "b"), default="a")
demo.toggle("few", "Few", default=False)
"""
    app = open_script(script, demo_size="4")
    used = app.session_state["frame_book"].used
    app.select_slider(key="demo_size_choice").set_value(8).run()
    app.segmented_control(key="demo_way_choice").set_value("b").run()
    assert (used["demo_size"], used["demo_way"]) == (8, "b")
    del app.query_params["demo_way"]  # as the browser still has it
    app.text_input(key="demo_size").set_value("4")
    app.text_input(key="demo_way").set_value("a")
    app.toggle(key="demo_few").set_value(True).run()
    assert (used["demo_size"], used["demo_way"], used["demo_few"]) == (8, "b", True)
