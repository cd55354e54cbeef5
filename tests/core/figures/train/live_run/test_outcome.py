"""Predicted and measured in one sentence."""

import pytest

from core.figures.train.live_run.outcome import outcome
from core.figures.train.live_run.run_facts import RunView

MIB = 1 << 20
PREDICTED = {"weights": MIB, "gradients": MIB, "optimizer": 2 * MIB, "activations": 4 * MIB}
INFO = {"created": 1000.0, "prediction": {"seconds": 60.0, "memory": PREDICTED}}
MEMORY = {"kind": "memory", "step": 1, **PREDICTED, "other": MIB // 2}


def test_seconds_count_from_the_click_and_bytes_name_what_was_not_predicted():
    told = outcome(RunView(columns={"time": [1010.0, 1044.0]}, events=[MEMORY], info=INFO))
    for number in ("1 min 00 s", "8.00 MiB", "44.0 s", "8.50 MiB", "512 KiB"):
        assert number in told
    assert "8.39 MB" in outcome(
        RunView(columns={"time": [1044.0]}, events=[MEMORY], info=INFO), "GB"
    )


@pytest.mark.parametrize(
    "missing",
    [
        {"columns": {"time": []}},
        {"events": []},
        {"info": {"created": 0.0}},
        {"info": {"created": 0.0, "prediction": {"seconds": 60.0}}},
    ],
)
def test_what_is_not_known_is_not_told(missing):
    known = {"columns": {"time": [1044.0]}, "events": [MEMORY], "info": INFO}
    assert outcome(RunView(**(known | missing))) == ""
