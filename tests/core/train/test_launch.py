import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from core.train.__main__ import main
from core.train.device_lock import DeviceBusyError, hold_device
from core.train.disk import RunStorageError
from core.train.info import read_info
from core.train.launch import resume_run, start_run, timing_for
from core.train.prepare import prepare
from core.train.rundir import is_run_name, runs_directory
from core.train.state import launched_is_alive, read_state
from core.train.timing import TimingError

TEXT = ("the quick brown fox jumps over the lazy dog. " * 60).encode()


@pytest.fixture
def already_timed(made_timing, monkeypatch):
    """The device counts as timed: no child has to import torch for it."""
    monkeypatch.setattr("core.train.launch.timing_for", lambda *_arguments, **_options: made_timing)


def wait_for_end(directory, seconds=60):
    deadline = time.monotonic() + seconds
    while not (state := read_state(directory)).is_final:
        assert time.monotonic() < deadline, state
        time.sleep(0.05)
    return state


@pytest.mark.slow
def test_one_call_starts_a_run_that_finishes_in_a_process_of_its_own(small_config):
    directory = start_run(small_config(), upload=TEXT, upload_name="../fox.txt")
    pid_seen = wait_for_end(directory).pid
    assert directory.parent == runs_directory()
    assert is_run_name(directory.name)
    assert pid_seen != psutil.Process().pid
    info = read_info(directory)
    assert info["text"]["title"] == "fox.txt"
    assert info["resolved"]["precision"] == "fp32"
    assert info["prediction"]["seconds_per_step"] > 0
    assert info["config"]["num_steps"] == 12
    assert (directory / "stdout.log").read_text() == ""


@pytest.mark.slow
def test_predicted_bytes_in_run_json_equal_the_measured_ones(small_config, already_timed):
    directory = start_run(small_config(), upload=TEXT)
    wait_for_end(directory)
    predicted = read_info(directory)["prediction"]["memory"]
    lines = (directory / "events.jsonl").read_text().splitlines()
    measured = [event for event in map(json.loads, lines) if event["kind"] == "memory"]
    assert measured
    for event in measured:
        assert {name: event[name] for name in predicted} == predicted


def test_a_duration_becomes_a_number_of_steps(small_config, already_timed, monkeypatch):
    monkeypatch.setattr("core.train.launch.spawn_worker", lambda *_arguments, **_options: None)
    directory = start_run(small_config(), seconds=60, upload=TEXT)
    info = read_info(directory)
    seconds = info["prediction"]["seconds"]
    assert info["config"]["num_steps"] > 100
    assert 55 < seconds <= 60


def test_steps_predicted_to_be_slow_are_not_timed(small_config, made_timing, monkeypatch):
    monkeypatch.setattr(
        "core.train.prepare.predicted_timing",
        lambda _config, _vocab: replace(made_timing, num_steps_timed=0),
    )
    monkeypatch.setattr("core.train.timing.SLOW_STEP_SECONDS", 0.0)
    monkeypatch.setattr("core.train.launch.spawn_worker", lambda *_arguments, **_options: None)
    monkeypatch.setattr("core.train.launch.measure_timing", None)
    directory = start_run(small_config(batch_size=8), upload=TEXT)
    assert read_info(directory)["prediction"]["seconds_per_step"] > 0


def test_an_unwritable_folder_is_named(small_config, already_timed, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunStorageError, match=r"Cannot write .*file"):
        start_run(small_config(), runs_dir=tmp_path / "file", upload=TEXT)


@pytest.mark.parametrize("name", ["../../evil", "a/b\\c", "名字", "", "x" * 300, "\0"])
def test_a_malicious_run_name_stays_inside_the_folder(
    small_config, already_timed, monkeypatch, name
):
    monkeypatch.setattr("core.train.launch.spawn_worker", lambda *_arguments, **_options: None)
    directory = start_run(small_config(name=name), upload=TEXT)
    assert directory.parent == runs_directory()
    assert is_run_name(directory.name)


def test_an_interpreter_that_cannot_be_started_is_told(small_config, already_timed, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(RunStorageError, match="No such file"):
        start_run(small_config(), upload=TEXT)


@pytest.mark.slow
def test_a_stopped_run_is_resumed(prepared_run):
    directory = prepared_run()
    resume_run(directory)
    assert wait_for_end(directory).state == "finished"


@pytest.mark.slow
def test_the_command_line_starts_pauses_and_stops(capsys, tmp_path, already_timed):
    started = ["start", "--runs", str(tmp_path), "--set", "num_steps=100000", "--set"]
    assert main([*started, "max_steps_per_second=20.0"]) == 0
    directory = capsys.readouterr().out.strip()
    assert directory.startswith(str(tmp_path))
    assert main(["pause", directory]) == 0
    assert "command 1 sent" in capsys.readouterr().out
    assert main(["stop", directory]) == 0
    wait_for_end(Path(directory))
    capsys.readouterr()
    assert main(["status", directory]) == 0
    assert capsys.readouterr().out.startswith("stopped step")


@pytest.mark.slow
def test_resuming_a_final_run_starts_a_worker(prepared_run, capsys):
    directory = prepared_run()
    resume_run(directory)
    wait_for_end(directory)
    assert main(["resume", str(directory)]) == 0
    assert "resuming from finished" in capsys.readouterr().out
    wait_for_end(directory)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["start", "--preset", "a-year"], "no preset 'a-year'"),
        (["start", "--set", "layers=4"], "layers is no setting"),
        (["start", "--set", "num_layers"], "write KEY=VALUE"),
        (["start", "--set", "num_layers=none"], "num_layers is None; it must be of type int"),
        (["start", "--set", "precision=fp8"], "precision is 'fp8'"),
    ],
)
def test_a_wrong_command_line_is_answered_with_a_sentence(arguments, message, capsys):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_a_device_that_cannot_be_timed_is_a_sentence(capsys, monkeypatch):
    def fail(_config, _vocab_size):
        raise TimingError("Timing this machine failed: no memory")

    monkeypatch.setattr("core.train.launch.measure_timing", fail)
    assert main(["start"]) == 2
    assert capsys.readouterr().err == "Timing this machine failed: no memory\n"


def test_a_runs_folder_that_refuses_is_a_sentence(small_config, already_timed, tmp_path):
    taken = tmp_path / "runs"
    taken.write_text("a file, no folder", encoding="utf-8")
    with pytest.raises(RunStorageError, match=r"Cannot write .*Free some space or give the"):
        start_run(small_config(), upload=TEXT, runs_dir=taken)


@pytest.mark.slow
def test_the_process_that_was_started_is_noted(small_config, already_timed):
    directory = start_run(small_config(), upload=TEXT)
    assert launched_is_alive(directory)
    assert (
        wait_for_end(directory).pid == json.loads((directory / "launched.json").read_text())["pid"]
    )


def test_a_start_on_a_busy_device_is_refused_unless_it_waits(
    small_config, already_timed, monkeypatch
):
    asked = []
    monkeypatch.setattr(
        "core.train.launch.spawn_worker", lambda _directory, *, wait: asked.append(wait)
    )
    with hold_device("cpu", "20260102t030405z-first-00ff"):
        with pytest.raises(DeviceBusyError, match="first-00ff is training on this CPU"):
            start_run(small_config(), upload=TEXT)
        assert asked == []
        directory = start_run(small_config(), upload=TEXT, wait=True)
        resume_run(directory, wait=True)
    assert asked == [True, True]


def test_who_waits_does_not_time_the_device_while_another_run_trains(
    prepared_run, made_timing, monkeypatch, small_config
):
    estimate = replace(made_timing, num_steps_timed=0)
    monkeypatch.setattr("core.train.prepare.predicted_timing", lambda *_arguments: estimate)
    monkeypatch.setattr("core.train.launch.measure_timing", lambda *_arguments: made_timing)
    prepared = prepare(small_config(), TEXT, "fox.txt")
    with hold_device("cpu", "first"):
        assert timing_for(prepared, wait=True) is estimate
    assert timing_for(prepared, wait=True) is made_timing
