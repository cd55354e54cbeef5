"""Predict, then reveal: the answer is not on the page before the reader commits."""

import pytest

from pages.shared.questions import Choice, predict_then_reveal

PAGE = """
done = predict_then_reveal(
    "d_q", "What is 256 + 1 in bf16?",
    [Choice("257", "bf16 has 8 bits of precision."), Choice("256")], "The gap is 2 there.")
st.text(str(done))
"""


def everything(app):
    return " ".join(str(element.value) for element in app.markdown)


def test_before_the_commit_neither_answer_nor_feedback_is_on_the_page(open_script):
    app = open_script(PAGE)
    assert app.text[0].value == "False"
    assert app.button(key="d_q_reveal").disabled
    app.radio(key="d_q").set_value(0).run()
    assert "The gap" not in everything(app)
    assert "precision" not in everything(app)


def test_a_wrong_answer_is_explained_then_the_right_one_is_shown(open_script):
    app = open_script(PAGE)
    app.radio(key="d_q").set_value(0).run()
    app.button(key="d_q_reveal").click().run()
    assert app.text[0].value == "True"
    for text in ("bf16 has 8 bits of precision.", "The answer is **256**.", "The gap is 2 there."):
        assert text in everything(app)
    assert app.radio(key="d_q").disabled, "a prediction cannot be changed afterwards"


def test_a_right_answer_is_confirmed(open_script):
    app = open_script(PAGE)
    app.radio(key="d_q").set_value(1).run()
    app.button(key="d_q_reveal").click().run()
    assert "Right: **256**." in everything(app)


@pytest.mark.parametrize("wrong", [(None, None), ("a", "b")])
def test_exactly_one_choice_is_right(wrong):
    choices = [Choice(str(number), why) for number, why in enumerate(wrong)]
    with pytest.raises(ValueError, match="question d_q: exactly one choice must be right"):
        predict_then_reveal("d_q", "?", choices, "")
