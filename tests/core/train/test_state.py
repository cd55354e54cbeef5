import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from core.train import state as state_module
from core.train.lock import worker_is_alive
from core.train.state import (
    RunState,
    launched_is_alive,
    note_launched,
    read_state,
    state_sentence,
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


def test_a_field_of_a_later_version_is_passed_over(run_directory):
    text = '{"state": "finished", "step": 3, "mood": "good"}'
    (run_directory / "state.json").write_text(text, encoding="utf-8")
    assert read_state(run_directory) == RunState(state="finished", step=3)


def test_a_state_that_is_replaced_all_the_time_is_never_read_half(run_directory):
    done = threading.Event()

    def replace_often():
        step = 0
        while not done.is_set():
            step += 1
            value = replace(RUNNING, state="finished", step=step, message="x" * (step % 999))
            write_state(run_directory, value, durable=False)

    write_state(run_directory, replace(RUNNING, state="finished", step=1))
    writer = threading.Thread(target=replace_often)
    writer.start()
    try:
        steps = [read_state(run_directory).step for _time in range(500)]
    finally:
        done.set()
        writer.join()
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
        ("{x_bytes}", {"x_bytes": "many"}, "{x_bytes}"),
    ],
)
def test_a_message_is_told_with_its_values(message, values, told):
    assert state_sentence(RunState(state="failed", message=message, values=values)) == told


@pytest.mark.parametrize("field", ['"reason": 3', '"values": []', '"resident_bytes": "all"'])
def test_a_state_with_a_field_of_another_kind_is_none(run_directory, field):
    (run_directory / "state.json").write_text('{"state": "finished", ' + field + "}")
    assert read_state(run_directory, created=time.time()).state == "starting"
