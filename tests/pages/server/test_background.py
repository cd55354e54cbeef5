"""Jobs beside the pages: each once at a time, their failures told."""

import threading
import time

import pytest

from pages.server.background import MAX_OF_ADDRESS, Jobs, PoolFullError


@pytest.fixture
def jobs():
    pool = Jobs(num_workers=2)
    yield pool
    pool.close()


def is_running(jobs, name):
    return name in jobs._futures and not jobs._futures[name].done()


def wait_until_done(jobs, name):
    deadline = time.monotonic() + 10
    while is_running(jobs, name):
        assert time.monotonic() < deadline, name
        time.sleep(0.01)


def test_a_job_that_is_under_way_is_not_started_again(jobs):
    gate, calls = threading.Event(), []

    def work():
        calls.append(1)
        gate.wait(10)

    jobs.start("measure", work)
    jobs.start("measure", work)
    assert is_running(jobs, "measure")
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


def test_a_job_that_never_ran_has_not_failed(jobs):
    assert jobs.error("unknown") == ""


def test_who_waits_gets_what_the_job_returns_and_hears_how_many_come_first(jobs):
    gate, places = threading.Event(), []
    for name in ("one", "two", "three"):
        jobs.start(name, lambda: gate.wait(10))

    def tell(place):
        places.append(place)
        gate.set()

    assert jobs.finish("four", lambda: 42, tell) == 42
    assert places[0] == 2, "two run, one waits in front"


def test_two_who_ask_for_the_same_share_one_job(jobs):
    gate, calls = threading.Event(), []

    def work():
        calls.append(1)
        gate.wait(10)
        return len(calls)

    results = []
    threads = [
        threading.Thread(target=lambda: results.append(jobs.finish("same", work))) for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    gate.set()
    for thread in threads:
        thread.join()
    assert (results, calls) == ([1] * 5, [1])


def test_the_pool_is_bounded_and_says_so():
    gate = threading.Event()
    small = Jobs(num_workers=1, max_waiting=2)
    for number in range(3):
        small.start(str(number), lambda: gate.wait(10))
    with pytest.raises(PoolFullError, match="2 measurements are waiting on this server"):
        small.start("one too many", lambda: None)
    small.start("2", lambda: None)  # it is there already
    gate.set()
    wait_until_done(small, "2")
    assert small.finish("now there is room", lambda: "done") == "done"
    small.close()


def test_a_failure_reaches_who_waits_also_a_timeout_of_its_own(jobs):
    def fail():
        time.sleep(0.3)
        raise TimeoutError("the child did not answer")

    with pytest.raises(TimeoutError, match="the child did not answer"):
        jobs.finish("fails", fail)


def test_results_of_long_ago_are_forgotten(jobs):
    for number in range(200):
        jobs.finish(str(number), lambda: None)
    assert len(jobs._futures) <= 66


def test_an_address_leaves_places_to_others_and_a_teacher_is_not_counted():
    asker, gate = ["192.0.2.1"], threading.Event()
    jobs = Jobs(num_workers=2, max_waiting=8, counted_as=lambda: asker[0])
    try:
        for number in range(MAX_OF_ADDRESS):
            jobs.start(f"one {number}", gate.wait)
        with pytest.raises(PoolFullError, match=f"{MAX_OF_ADDRESS} measurements from your address"):
            jobs.start("one more", gate.wait)
        for asker[0] in ("192.0.2.2", ""):
            jobs.start(f"of {asker[0]}", gate.wait)
    finally:
        gate.set()
        jobs.close()
