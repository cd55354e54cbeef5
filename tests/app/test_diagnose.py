"""Diagnose: an error text in, the tensor of that size and what held the rest out."""

import pytest

PAGE = "plan/diagnose"


def notes(app):
    return " ".join(str(each.value) for each in (*app.caption, *app.markdown))


def test_the_example_names_a_feed_forward_matrix_and_other_tensors_of_that_size(open_page):
    app = open_page(
        PAGE, plan_model="llama-2-7b", plan_devices="1", plan_length="1024",
        diagnose_text="CUDA out of memory. Tried to allocate 172.00 MiB",
    )  # fmt: skip
    assert not app.exception
    assert "11,008 × 4,096 × 4" in app.session_state["headline"]
    assert "22,016 × 4,096 × 2" in notes(app)


def test_a_text_that_is_no_such_error_is_refused_in_a_sentence(open_page):
    app = open_page(PAGE, diagnose_text="RuntimeError: shape mismatch")
    assert not app.exception
    assert "no out-of-memory error" in " ".join(each.value for each in app.error)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_text_without_a_request_is_not_answered_as_choices_that_cannot_go_together(
    open_page, lang
):
    """The plan beside it may be well; a plan that is not is answered as on its other pages."""
    told = []
    for text in ("hello", "CUDA out of memory"):
        app = open_page(PAGE, lang=lang, diagnose_text=text)
        told.append(app.session_state["headline"])
        assert len(app.error) == 1
    assert told[0] == told[1]
    impossible = {"plan_model": "llama-2-7b", "plan_devices": "8", "plan_tensor": "3"}
    app = open_page(PAGE, lang=lang, **impossible)
    assert len(app.error) == 1
    assert told[0] != app.session_state["headline"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_size_that_no_tensor_has_is_said(open_page, lang):
    app = open_page(PAGE, lang=lang, diagnose_text="CUDA out of memory. Tried to allocate 3.33 GiB")
    assert not app.exception
    assert "3.33 GiB" in app.session_state["headline"]
