import subprocess
import sys

import pytest

from core.train.worker import faults


@pytest.fixture(autouse=True)
def disarmed():
    yield
    faults.arm("")


def test_the_process_dies_when_the_point_is_passed_for_the_ordered_time(monkeypatch):
    deaths = []
    monkeypatch.setattr(faults, "_die", lambda: deaths.append("died"))
    faults.arm("checkpoint_synced:3")
    for passed in range(1, 4):
        faults.at("checkpoint_written")
        faults.at("checkpoint_synced")
        assert len(deaths) == (passed == 3)


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
