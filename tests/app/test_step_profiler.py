"""Step profiler: what is recorded, what is measured, what belongs to which checkpoint."""

import json

import pytest

from core.train.profiler.results import recorded
from core.train.run.directory import checkpoint_path
from pages.train.step_profiler import inputs

PAGE = "train/step_profiler"


@pytest.fixture(autouse=True)
def nothing_kept():
    inputs.kept.clear()


def headline(app):
    assert not app.exception
    return app.session_state["headline"]


@pytest.mark.parametrize(
    "query",
    [{}, {"profile_view": "memory"}, {"profile_view": "item"}, {"profile_view": "compile"},
     {"profile_tab": "operators"}, {"profile_tab": "numbers"}],
    ids=lambda query: "-".join(query.values()) or "parts",
)  # fmt: skip
def test_what_is_recorded_is_shown_and_its_code_runs(open_page, run_code, query):
    app = open_page(PAGE, **query)
    assert headline(app)
    assert len(app.get("plotly_chart")) == 1
    assert any("Recorded on" in each.value for each in app.caption)
    assert run_code(app)


def test_a_name_that_a_piece_of_the_bar_has_no_room_for_is_left_out_and_never_cut(open_page):
    drawn = json.loads(open_page(PAGE).get("plotly_chart")[0].proto.spec)
    assert drawn["layout"]["uniformtext"]["mode"] == "hide"
    assert "moving<br>numbers<br>28%" in [each["text"][0] for each in drawn["data"]]
    assert {each.get("constraintext") for each in drawn["data"]} == {None}


@pytest.mark.parametrize("tab", ["anatomy", "operators", "numbers"])
def test_what_was_never_measured_says_so(open_page, tab):
    app = open_page(PAGE, profile_tab=tab, profile_model="0.8M", profile_optimizer="muon")
    assert headline(app) == "0.8M, fp32, muon: not measured on this machine yet"
    assert not app.get("plotly_chart")


def test_a_measurement_is_kept_for_all_and_dropped_with_its_checkpoint(
    open_page, a_run, monkeypatch
):
    asked = []

    def measure(what, subject, num_steps):
        asked.append((what, subject.run, num_steps))
        return recorded(what, "110k", "fp32")

    monkeypatch.setattr(inputs, "measure", measure)
    path = checkpoint_path(a_run, 50)
    path.parent.mkdir()
    path.write_bytes(b"weights")
    app = open_page(PAGE, profile_model=a_run.name)
    assert headline(app) == "One minute, step 50: not measured on this machine yet".replace(
        "One minute", app.selectbox[0].options[-1]
    )
    next(each for each in app.button if each.label == "Measure here").click()
    app.run()
    assert asked == [("anatomy", a_run.name, 3)]
    assert headline(app).startswith("A step takes")
    assert headline(open_page(PAGE, profile_model=a_run.name)).startswith("A step takes")
    checkpoint_path(a_run, 60).write_bytes(b"weights")
    app = open_page(PAGE, profile_model=a_run.name)
    assert "step 60: not measured" in headline(app)
    next(each for each in app.button if each.label == "Measure here").click()
    app.run()
    assert len(inputs.kept()) == 1  # that of step 50 is gone


def test_a_measurement_that_fails_is_a_sentence(open_page, monkeypatch):
    def measure(_what, _subject, _num_steps):
        raise ValueError("The run x is training on this CPU.")

    monkeypatch.setattr(inputs, "measure", measure)
    app = open_page(PAGE)
    next(each for each in app.button if each.label == "Measure here").click()
    app.run()
    assert any("training on this CPU" in each.value for each in app.markdown)
    assert headline(app)


def test_numbers_are_told_in_the_zones_of_another_format(open_page):
    app = open_page(PAGE, profile_tab="numbers", profile_zones="float16")
    assert any("Gradients in float16" in each.value for each in app.caption)
    alt = app.get("plotly_chart")[0].proto.alt
    assert "float16" in alt


def test_a_run_that_is_gone_is_a_sentence(open_page):
    app = open_page(PAGE, profile_model="20260102t030405z-gone-00ff")
    assert headline(app) == "There is no such step."
