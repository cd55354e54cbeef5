"""The step timeline: moments first, then the simulated step, and what is wrong as a sentence."""

import pytest

from core.budget.simulation.step import simulate_step
from core.budget.simulation.timeline import report_of
from pages.budget.training_memory import simulations

SCRIPT = """
from core.budget.recipe import TrainingRecipe
from core.budget.training.scenario import named_scenario
from pages.budget.training_memory.step_timeline import show_timeline
show_timeline(named_scenario("gpt2", "t4", TrainingRecipe(seq_len={seq_len}), {layout}))
"""
HERE = SCRIPT.format(seq_len=64, layout={})


def _run_here(spec, recipe, on_progress):
    """Simulate in this process: a child would load torch again."""
    return report_of(simulate_step(spec, recipe, on_progress), 0.5)


def headline(app):
    assert [each.message for each in app.exception] == []
    return app.session_state["headline"]


@pytest.fixture(autouse=True)
def _no_reports():
    simulations.shared.clear()
    yield
    simulations.shared.clear()


def test_before_the_simulation_the_closed_form_names_the_moment(open_script):
    app = open_script(HERE)
    assert headline(app).startswith("Closed form: peak ")
    assert "“optimizer step”" in headline(app)
    (chart,) = app.get("plotly_chart")
    assert "end of forward" in chart.proto.alt


def test_the_button_simulates_the_step_and_compares_it_with_the_closed_form(
    open_script, monkeypatch
):
    monkeypatch.setattr(simulations, "run_simulation", _run_here)
    app = open_script(HERE)
    app.button(key="memory_simulate").click().run(timeout=60)
    assert headline(app).startswith("Simulated peak ")
    apart = float(headline(app).rsplit(": ", 1)[1].split("%")[0])
    assert apart < 1
    assert "tensors" in " ".join(each.value for each in app.markdown)


def test_a_failing_child_is_a_sentence(open_script, monkeypatch):
    def fail(*_):
        raise ValueError("the child failed")

    monkeypatch.setattr(simulations, "run_simulation", fail)
    app = open_script(HERE)
    app.button(key="memory_simulate").click().run(timeout=60)
    assert "the child failed" in " ".join(each.value for each in app.markdown)


def test_the_readers_measurement_corrects_the_estimate_and_is_called_so(open_script):
    app = open_script(HERE, memory_measured="2.5")
    (metric,) = app.metric
    assert "measured" in metric.label
    assert metric.value == "2.50 GiB"
    far = open_script(HERE, memory_measured="9999")
    assert "measured is" in far.error[0].value


def test_what_cannot_be_and_what_plays_no_part_are_said(open_script):
    app = open_script(SCRIPT.format(seq_len=4096, layout={}))
    assert "seq_len is 4096" in app.error[0].value
    app = open_script(SCRIPT.format(seq_len=64, layout={"num_devices": 8}))
    assert any("without the layout over 8" in each.value for each in app.caption)
