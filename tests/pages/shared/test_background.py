"""Jobs beside the pages: each once at a time, their failures told."""

import threading
import time

import pytest

from pages.shared.background import Jobs


@pytest.fixture
def jobs():
    pool = Jobs(num_workers=2)
    yield pool
    pool.close()


def wait_until_done(jobs, name):
    deadline = time.monotonic() + 10
    while jobs.is_running(name):
        assert time.monotonic() < deadline, name
        time.sleep(0.01)


def test_a_job_that_is_under_way_is_not_started_again(jobs):
    gate, calls = threading.Event(), []

    def work():
        calls.append(1)
        gate.wait(10)

    jobs.start("measure", work)
    jobs.start("measure", work)
    assert jobs.is_running("measure")
    gate.set()
    wait_until_done(jobs, "measure")

    assert calls == [1]
    jobs.start("measure", work)
    wait_until_done(jobs, "measure")
    assert calls == [1, 1]


def test_a_failure_is_told_until_the_job_runs_again(jobs):
    def fail():
        raise ValueError("no clock on this machine")

    jobs.start("measure", fail)
    wait_until_done(jobs, "measure")
    assert jobs.error("measure") == "no clock on this machine"

    jobs.start("measure", lambda: None)
    wait_until_done(jobs, "measure")
    assert jobs.error("measure") == ""


def test_a_job_that_never_ran_is_neither_running_nor_failed(jobs):
    assert not jobs.is_running("unknown")
    assert jobs.error("unknown") == ""
