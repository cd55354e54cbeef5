import subprocess
import sys

import pytest

from core.train.worker import faults


@pytest.fixture(autouse=True)
def disarmed():
    yield
    faults.arm("")


def test_without_an_order_every_point_is_passed(monkeypatch):
    monkeypatch.setattr(faults, "_die", lambda: pytest.fail("it was off"))
    for point in faults.POINTS:
        faults.at(point)


def test_the_process_dies_when_the_point_is_passed_for_the_ordered_time(monkeypatch):
    deaths = []
    monkeypatch.setattr(faults, "_die", lambda: deaths.append("died"))
    faults.arm("checkpoint_synced:3")
    for passed in range(1, 4):
        faults.at("checkpoint_written")
        faults.at("checkpoint_synced")
        assert len(deaths) == (passed == 3)


@pytest.mark.parametrize("order", ["lunch", "checkpoint_synced:soon", ":2"])
def test_an_order_that_names_no_point_is_refused(order):
    with pytest.raises(ValueError, match="is no fault; write one of checkpoint_written"):
        faults.arm(order)


def test_the_environment_arms_a_process_and_it_ends_as_by_kill(root):
    code = "from core.train.worker import faults; faults.at('step_recorded'); print('alive')"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        env={"B2G_FAULT": "step_recorded", "PYTHONPATH": str(root)},
        capture_output=True,
        check=False,
    )
    assert ended.returncode in (-9, 137)
    assert ended.stdout == b""
