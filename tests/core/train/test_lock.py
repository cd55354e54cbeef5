import os
import subprocess
import sys
import threading

import psutil
import pytest
from filelock import FileLock

from core.train.disk import RunStorageError
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


@pytest.mark.slow
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


FORKING_WORKER = """
import os, sys, time
from pathlib import Path
from core.train.lock import hold_worker_lock
with hold_worker_lock(Path(sys.argv[1])):
    if os.fork() == 0:
        print(os.getpid(), flush=True)  # by now it has closed its copy of the lock
        os.close(1)
        time.sleep(60)
    sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_that_outlives_its_worker_does_not_keep_the_lock(run_directory, root):
    worker = subprocess.Popen(
        [sys.executable, "-c", FORKING_WORKER, str(run_directory)],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    child = int(worker.stdout.readline())
    try:
        assert worker_is_alive(run_directory)
        worker.kill()
        worker.wait(10)
        assert psutil.pid_exists(child)
        assert not worker_is_alive(run_directory)
        with hold_worker_lock(run_directory):
            assert worker_is_alive(run_directory)
    finally:
        psutil.Process(child).kill()
        worker.communicate()


def test_a_directory_that_is_gone_is_a_sentence(tmp_path):
    with (
        pytest.raises(RunStorageError, match=r"Cannot write .*worker\.lock"),
        hold_worker_lock(tmp_path / "gone"),
    ):
        raise AssertionError("it holds a lock on nothing")
