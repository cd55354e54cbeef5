"""The names that others rely on: each is there, and only one of them loads torch."""

import subprocess
import sys

import pytest

import core.budget

ASK = """
import sys
import core.budget
for name in core.budget._HOMES:
    if name != "simulate_step":
        getattr(core.budget, name)
print("torch" in sys.modules, "core.budget.simulation.step" in sys.modules)
"""


@pytest.mark.parametrize("name", core.budget._HOMES)
def test_a_public_name_is_in_its_room(name):
    found = getattr(core.budget, name)
    assert getattr(sys.modules[core.budget._HOMES[name]], name) is found


def test_a_name_that_is_not_there_is_refused_as_by_any_module():
    with pytest.raises(AttributeError, match=r"'core\.budget' has no attribute 'gradients'"):
        core.budget.gradients  # noqa: B018


def test_all_but_the_simulation_do_without_torch():
    answer = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["False", "False"]
