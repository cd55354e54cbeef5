"""Torch is late: it costs seconds and hundreds of MB, so only what computes with it loads it."""

import subprocess
import sys

import pytest

WITHOUT_TORCH = [
    "core.units",
    "core.language",
    "core.dtypes",
    "core.dtypes.labs",
    "core.dtypes.libraries.library",
    "core.machine.kept_library",
    "core.machine",
    "core.models",
    "core.budget",
    "core.budget.catalogue.hf_config",
    "core.budget.simulation.cases",
    "core.budget.weights.sizes",
    "core.train",
    "core.train.config",
    "core.train.start.presets",
    "core.train.start.launch",
    "core.train.start.timing",
    "core.train.learning.tensors",
    "core.train.run.directory",
    "core.train.run.store",
    "core.train.run.reader",
    "core.train.run.history",
    "core.train.control.commands",
    "core.figures",
    "core.figures.theme",
]
HEAVY = ["torch", "streamlit", "plotly", "pandas"]


def loaded_by(module, names):
    """Return which of `names` a fresh process has loaded after importing `module`."""
    program = f"import sys, {module}; print(*[n for n in {names} if n in sys.modules])"
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize("module", WITHOUT_TORCH)
def test_a_module_of_closed_forms_loads_neither_torch_nor_a_page(module):
    assert loaded_by(module, HEAVY) == []


@pytest.mark.slow
def test_the_training_process_holds_neither_streamlit_nor_plotly():
    assert (
        loaded_by("core.train.worker.__main__", ["streamlit", "plotly", "pandas", "starlette"])
        == []
    )


def test_the_question_can_be_answered_with_yes():
    assert loaded_by("json", ["json", "torch"]) == ["json"]
