"""Simulated steps kept for every session of a server."""

from collections import OrderedDict

import pytest

from core.budget.recipe import TrainingRecipe
from core.budget.simulation.cases import write_case
from core.budget.training.scenario import named_scenario
from pages.plan.training_memory import step_timeline
from tests.core.budget.simulation.test_cases import REPORT


@pytest.fixture
def kept(monkeypatch):
    shared = step_timeline.Shared(reports=OrderedDict())
    monkeypatch.setattr(step_timeline, "shared", lambda: shared)
    monkeypatch.setattr(step_timeline, "MOST_KEPT", 2)
    return shared


def case(seq_len):
    return named_scenario("gpt2", "t4", TrainingRecipe(seq_len=seq_len))


def name(seq_len):
    return write_case(case(seq_len).spec, case(seq_len).recipe)


def test_a_report_is_found_again_and_the_oldest_goes_first(kept, monkeypatch):
    monkeypatch.setattr(step_timeline, "run_simulation", lambda *_: REPORT)
    assert step_timeline.kept_report(case(8)) is None
    for seq_len in (8, 16, 32):
        step_timeline.keep_simulation(name(seq_len), case(seq_len))
    assert list(kept.reports) == [name(16), name(32)]
    assert step_timeline.kept_report(case(32)) is REPORT
    assert step_timeline.kept_report(case(8)) is None


def test_a_failed_run_keeps_nothing_and_forgets_where_it_was(kept, monkeypatch):
    def fail(_spec, _recipe, note):
        note("forward", "blocks.0")
        assert kept.places[name(8)] == ("forward", "blocks.0")
        raise ValueError("the child failed")

    monkeypatch.setattr(step_timeline, "run_simulation", fail)
    with pytest.raises(ValueError, match="the child failed"):
        step_timeline.keep_simulation(name(8), case(8))
    assert (kept.reports, kept.places) == ({}, {})
