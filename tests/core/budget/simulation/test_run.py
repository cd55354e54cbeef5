import pytest

from core.budget.simulation.cases import write_case
from core.budget.simulation.report import StepReport, write_report
from core.budget.simulation.run import run_simulation
from tests.core.budget.simulation.test_prepared import LLAMA, recipe

REPORT = StepReport(
    base={"weights": 8},
    points=(),
    peak=10,
    peak_place=0,
    holdings=(),
    num_events=1,
    forward_bytes=1,
    seconds=0.1,
)


def test_progress_is_told_and_the_last_line_is_the_report(monkeypatch: pytest.MonkeyPatch):
    asked = []

    def lines(module, arguments, *, seconds):
        asked.append((module, *arguments))
        yield "forward\tblocks.0"
        yield "backward\t"
        yield write_report(REPORT)

    monkeypatch.setattr("core.budget.simulation.run.lines_of", lines)
    told = []
    found = run_simulation(LLAMA, recipe(), lambda *place: told.append(place))
    assert found == REPORT
    assert told == [("forward", "blocks.0"), ("backward", "")]
    assert asked == [("core.budget.simulation", write_case(LLAMA, recipe()))]


def test_a_recipe_that_cannot_be_starts_no_process():
    with pytest.raises(ValueError, match="FSDP2 shares its weights out over several devices"):
        run_simulation(LLAMA, recipe(precision="fsdp2"))
