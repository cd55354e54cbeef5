import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import psutil
import pytest

from core.train.run import state as state_module
from core.train.run.disk import RunStorageError
from core.train.run.state import (
    RunBusyError,
    RunState,
    hold_worker_lock,
    launched_is_alive,
    note_launched,
    read_state,
    state_sentence,
    worker_is_alive,
    write_state,
)

RUNNING = RunState(state="running", step=5, pid=1234, time=1e9)


def test_a_running_state_is_believed_while_the_worker_lives_and_crashed_once_it_is_killed(
    run_directory, living_worker
):
    write_state(run_directory, RUNNING)
    with living_worker(run_directory) as worker:
        assert worker_is_alive(run_directory)
        assert read_state(run_directory) == RUNNING
        worker.kill()
        worker.wait()
        assert not worker_is_alive(run_directory)
        crashed = read_state(run_directory)
        assert (crashed.state, crashed.reason, crashed.step) == ("crashed", "killed", 5)


def test_final_states_stay_what_they_are_without_a_worker(run_directory):
    for name in ("stopped", "finished", "failed"):
        write_state(run_directory, replace(RUNNING, state=name))
        assert read_state(run_directory).state == name
        assert read_state(run_directory).is_final


def test_a_worker_that_finishes_while_we_look_has_not_crashed(run_directory, monkeypatch):
    write_state(run_directory, RUNNING)

    def finish_just_now(directory):
        write_state(directory, replace(RUNNING, state="finished"))
        return False

    monkeypatch.setattr(state_module, "worker_is_alive", finish_just_now)
    assert read_state(run_directory).state == "finished"


def test_a_worker_gets_a_minute_to_start_and_then_counts_as_crashed(run_directory):
    write_state(run_directory, RunState(state="starting", time=time.time()))
    assert read_state(run_directory).state == "starting"
    write_state(run_directory, RunState(state="starting", time=time.time() - 61))
    assert read_state(run_directory).state == "crashed"
    write_state(run_directory, RunState(state="starting", time=time.time(), pid=1234))
    assert read_state(run_directory).state == "crashed"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 60_000,
        '{"step": 3}',
        '{"state": "dancing"}',
        '{"state": ["running"]}',
        '{"state": "running", "step": "many"}',
        '{"state": "running", "time": 1e400}',
        '{"state": "running", "step": -1}',
    ],
)
def test_a_damaged_state_is_read_as_none_at_all(run_directory, text):
    (run_directory / "state.json").write_text(text, encoding="utf-8")
    now = time.time()
    assert read_state(run_directory, created=now) == RunState(state="starting", time=now)
    assert read_state(run_directory, created=0.0).state == "crashed"


def test_a_state_that_is_replaced_all_the_time_is_never_read_half(run_directory):
    done = threading.Event()

    def replace_often():
        step = 0
        while not done.is_set():
            step += 1
            value = replace(RUNNING, state="finished", step=step, message="x" * (step % 999))
            write_state(run_directory, value, durable=False)

    write_state(run_directory, replace(RUNNING, state="finished", step=1))
    with ThreadPoolExecutor() as writer:
        writer.submit(replace_often)
        try:
            steps = [read_state(run_directory).step for _time in range(500)]
        finally:
            done.set()
    assert steps == sorted(steps)
    assert min(steps) >= 1


def test_a_process_that_died_before_it_spoke_counts_as_crashed_at_once(run_directory):
    write_state(run_directory, RunState(state="starting", time=time.time()))
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    note_launched(run_directory, process.pid)
    assert read_state(run_directory).state == "starting"
    process.kill()
    process.communicate()
    assert launched_is_alive(run_directory) is False
    crashed = read_state(run_directory)
    assert (crashed.state, crashed.reason) == ("crashed", "killed")
    assert "resume goes on from the last checkpoint" in state_sentence(crashed)


@pytest.mark.parametrize("text", ["", "[]", '{"pid": "x"}', '{"pid": 1}'])
def test_a_damaged_note_of_the_start_is_no_note(run_directory, text):
    (run_directory / "launched.json").write_text(text, encoding="utf-8")
    assert launched_is_alive(run_directory) is None


def test_the_number_of_a_dead_process_that_lives_again_is_another_process(run_directory):
    note_launched(run_directory, os.getpid())
    assert launched_is_alive(run_directory)
    note = json.loads((run_directory / "launched.json").read_text())
    (run_directory / "launched.json").write_text(json.dumps({**note, "began": 5.0}))
    assert launched_is_alive(run_directory) is False


@pytest.mark.parametrize(
    ("message", "values", "told"),
    [
        ("", {}, ""),
        (
            "It held {actual_bytes}; take {batch_size}.",
            {"actual_bytes": 3 << 30, "batch_size": 8},
            "It held 3.00 GiB; take 8.",
        ),
        ("A path with {a brace", {}, "A path with {a brace"),
        ("{missing}", {}, "{missing}"),
        # The file may be damaged: its words are filled in, and never obeyed as a format.
        ("{x:1000000000}", {"x": 1}, "{x:1000000000}"),
        ("{x!r:>1000000000} {x.real} {0} {}", {"x": 1}, "{x!r:>1000000000} {x.real} {0} {}"),
        ("{{x}} {x}", {"x": 5}, "{5} 5"),
    ],
)
def test_a_message_is_told_with_its_values(message, values, told):
    assert state_sentence(RunState(state="failed", message=message, values=values)) == told


@pytest.mark.parametrize(
    "field",
    [
        *('"reason": 3', '"values": []', '"resident_bytes": "all"', '"values": {"a_bytes": "x"}'),
        *('"max_steps_per_second": "x"', '"pid": []', '"step": true', '"time": 1e999'),
    ],
)
def test_a_state_with_a_field_of_another_kind_is_none(run_directory, field):
    (run_directory / "state.json").write_text('{"state": "finished", ' + field + "}")
    assert read_state(run_directory, created=time.time()).state == "starting"


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
    with ThreadPoolExecutor() as readers:
        for _reader in range(3):
            readers.submit(ask)
        try:
            for _start in range(20):
                with hold_worker_lock(run_directory):
                    pass
        finally:
            done.set()


def test_many_askers_never_take_each_other_for_the_worker(run_directory):
    (run_directory / "worker.lock").touch()
    with ThreadPoolExecutor(4) as readers:
        assert not any(readers.map(worker_is_alive, [run_directory] * 1200))


@pytest.mark.slow
def test_a_second_worker_on_the_same_run_is_refused(run_directory, living_worker, monkeypatch):
    monkeypatch.setattr("core.train.run.state._PATIENCE_SECONDS", 0.1)
    with (
        living_worker(run_directory),
        pytest.raises(RunBusyError, match=r"Run 2026\S+ is already being trained by another"),
        hold_worker_lock(run_directory),
    ):
        pytest.fail("two workers on one run")


def test_a_lock_that_may_not_be_opened_is_believed_to_be_held(run_directory, fails):
    (run_directory / "worker.lock").touch()
    fails("filelock.FileLock.acquire", PermissionError)
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
from core.train.run.state import hold_worker_lock
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
