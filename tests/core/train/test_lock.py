import os
import threading

import pytest
from filelock import FileLock

from core.train.lock import RunBusyError, hold_worker_lock, worker_is_alive


def test_asking_who_is_alive_leaves_nothing_behind(run_directory):
    before = sorted(path.name for path in run_directory.iterdir())
    assert not worker_is_alive(run_directory)
    assert sorted(path.name for path in run_directory.iterdir()) == before


def test_readers_that_ask_all_the_time_do_not_keep_a_worker_from_starting(run_directory):
    done = threading.Event()

    def ask():
        while not done.is_set():
            worker_is_alive(run_directory)

    (run_directory / "worker.lock").touch()
    readers = [threading.Thread(target=ask) for _reader in range(3)]
    for reader in readers:
        reader.start()
    try:
        for _start in range(20):
            with hold_worker_lock(run_directory):
                pass
    finally:
        done.set()
        for reader in readers:
            reader.join()


def test_many_askers_never_take_each_other_for_the_worker(run_directory):
    (run_directory / "worker.lock").touch()
    answers = []

    def ask():
        answers.extend(worker_is_alive(run_directory) for _time in range(300))

    readers = [threading.Thread(target=ask) for _reader in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert len(answers) == 1200
    assert not any(answers)


def test_a_second_worker_on_the_same_run_is_refused(run_directory, living_worker, monkeypatch):
    monkeypatch.setattr("core.train.lock._PATIENCE_SECONDS", 0.1)
    with (
        living_worker(run_directory),
        pytest.raises(RunBusyError, match=r"Run 2026\S+ is already being trained by another"),
        hold_worker_lock(run_directory),
    ):
        pytest.fail("two workers on one run")


def test_a_lock_that_may_not_be_opened_is_believed_to_be_held(run_directory, monkeypatch):
    (run_directory / "worker.lock").touch()

    def refuse(_lock, *_arguments, **_options):
        raise PermissionError

    monkeypatch.setattr(FileLock, "acquire", refuse)
    assert worker_is_alive(run_directory)


@pytest.mark.skipif(os.name == "nt", reason="Windows frees it too, but has no SIGKILL")
def test_the_system_frees_the_lock_of_a_worker_that_was_killed(run_directory, living_worker):
    with living_worker(run_directory) as worker:
        worker.kill()
        worker.wait()
        with hold_worker_lock(run_directory):
            assert worker_is_alive(run_directory)
    assert not worker_is_alive(run_directory)
