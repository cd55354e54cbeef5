"""The program that simulates a step."""

import pytest

from core.budget.simulation.__main__ import main
from core.budget.simulation.cases import write_case
from core.budget.simulation.step import simulate_step
from core.budget.simulation.timeline import read_report
from tests.core.budget.simulation.test_prepared import LLAMA, recipe


def test_the_program_prints_where_it_is_and_then_the_report(capsys: pytest.CaptureFixture[str]):
    main(write_case(LLAMA, recipe()))
    *progress, last = capsys.readouterr().out.splitlines()
    assert progress[0] == "forward\t"
    assert all(line.count("\t") == 1 for line in progress)
    assert read_report(last).peak == simulate_step(LLAMA, recipe()).peak
