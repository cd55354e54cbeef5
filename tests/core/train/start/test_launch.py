import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from core.budget.by_hand.gpt import step_flops
from core.budget.catalogue.devices import DEVICES
from core.train.__main__ import main
from core.train.control.device import DeviceBusyError, hold_device
from core.train.run.directory import is_run_name, read_info, runs_directory
from core.train.run.disk import RunStorageError
from core.train.run.shelf import list_runs
from core.train.run.state import (
    note_launched,
    read_state,
)
from core.train.start import launch, plan
from core.train.start.launch import resume_run, start_run, timing_for
from core.train.start.plan import Wish, plan_run
from core.train.start.timing import TimingError


@pytest.fixture
def already_timed(made_timing, monkeypatch):
    """The device counts as timed: no child has to import torch for it."""
    monkeypatch.setattr(launch, "timing_for", lambda *_arguments, **_options: made_timing)


@pytest.fixture
def no_worker(monkeypatch):
    """A start makes a run directory and no process; gives of each whether it would have waited."""
    asked = []
    monkeypatch.setattr(
        launch, "spawn_worker", lambda _directory, *, wait, **_more: asked.append(wait)
    )
    return asked


@pytest.fixture
def end_of(wait_until):
    """Return end_of(directory): waits for the run's end and gives its state."""

    def wait(directory):
        wait_until(lambda: read_state(directory).is_final)
        return read_state(directory)

    return wait


@pytest.mark.slow
def test_one_call_starts_a_run_that_finishes_in_a_process_of_its_own(prepare_small, end_of):
    directory = start_run(prepare_small(file="../fox.txt"))
    pid_seen = end_of(directory).pid
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
def test_predicted_bytes_in_run_json_equal_the_measured_ones(prepare_small, already_timed, end_of):
    directory = start_run(prepare_small())
    end_of(directory)
    predicted = read_info(directory)["prediction"]["memory"]
    lines = (directory / "events.jsonl").read_text().splitlines()
    measured = [event for event in map(json.loads, lines) if event["kind"] == "memory"]
    assert measured
    for event in measured:
        assert {name: event[name] for name in predicted} == predicted


def test_run_json_holds_what_an_mfu_is_made_of(prepare_small, made_timing, no_worker, monkeypatch):
    h100 = {"device": "cuda", "device_name": "NVIDIA H100 80GB HBM3", "precision": "bf16"}
    timing = replace(made_timing, **h100)
    monkeypatch.setattr(launch, "timing_for", lambda *_arguments, **_options: timing)
    prepared = prepare_small(accumulation_steps=2)
    info = read_info(start_run(prepared))
    shape = prepared.config.shape(prepared.dataset.tokenizer.vocab_size)
    flops = step_flops(shape, prepared.config.batch_size).amount
    assert info["prediction"]["flops_per_step"] == 2 * flops
    assert info["resolved"]["peak_source"] == "data sheet"
    assert info["resolved"]["peak_flops_per_second"] == DEVICES["h100-sxm"].peak["bfloat16"]


@pytest.mark.parametrize("name", ["../../evil", "a/b\\c", "名字", "", "x" * 300, "\0"])
def test_a_malicious_run_name_stays_inside_the_folder(
    prepare_small, already_timed, no_worker, name
):
    directory = start_run(prepare_small(name=name))
    assert directory.parent == runs_directory()
    assert is_run_name(directory.name)


def test_an_interpreter_that_cannot_be_started_is_told(prepare_small, already_timed, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(RunStorageError, match="No such file"):
        start_run(prepare_small())


@pytest.mark.slow
def test_the_command_line_starts_pauses_and_stops(capsys, tmp_path, already_timed, end_of):
    started = ["start", "--runs", str(tmp_path), "--set", "num_steps=100000", "--set"]
    assert main([*started, "max_steps_per_second=20.0"]) == 0
    directory = capsys.readouterr().out.strip()
    assert directory.startswith(str(tmp_path))
    assert main(["pause", directory]) == 0
    assert "command 1 sent" in capsys.readouterr().out
    assert main(["stop", directory]) == 0
    end_of(Path(directory))
    capsys.readouterr()
    assert main(["status", directory]) == 0
    assert capsys.readouterr().out.startswith("stopped step")


@pytest.mark.slow
def test_resuming_a_run_starts_a_worker_also_of_a_final_one(prepared_run, capsys, end_of):
    directory = prepared_run()
    resume_run(directory)
    assert end_of(directory).state == "finished"
    assert main(["resume", str(directory)]) == 0
    assert "resuming from finished" in capsys.readouterr().out
    end_of(directory)


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


def test_a_device_that_cannot_be_timed_is_a_sentence(capsys, fails):
    fails(
        "core.train.start.launch.measure_timing",
        TimingError("Timing this machine failed: no memory"),
    )
    assert main(["start"]) == 2
    assert capsys.readouterr().err == "Timing this machine failed: no memory\n"


def test_a_runs_folder_that_refuses_is_a_sentence(prepare_small, already_timed, tmp_path):
    taken = tmp_path / "runs"
    taken.write_text("a file, no folder", encoding="utf-8")
    with pytest.raises(RunStorageError, match=r"Cannot write .*runs.*Free some space or give the"):
        start_run(prepare_small(), runs_dir=taken)


def test_a_start_on_a_busy_device_is_refused_unless_it_waits(
    prepare_small, already_timed, no_worker
):
    with hold_device("cpu", "20260102t030405z-first-00ff"):
        with pytest.raises(DeviceBusyError, match="first-00ff is training on this CPU"):
            start_run(prepare_small())
        assert no_worker == []
        directory = start_run(prepare_small(), wait=True)
        resume_run(directory, wait=True)
    assert no_worker == [True, True]


def test_of_two_starts_at_once_the_second_is_refused_and_leaves_no_run(
    prepare_small, already_timed, monkeypatch
):
    """The first worker takes its time until it holds the device, as an interpreter does."""
    held = ExitStack()

    def spawn(directory, *, wait, processes):
        note_launched(directory, psutil.Process().pid)
        hold = hold_device("cpu", directory.name)
        threading.Timer(0.3, held.enter_context, [hold]).start()

    monkeypatch.setattr(launch, "spawn_worker", spawn)
    with held, ThreadPoolExecutor(2) as two:
        starts = [two.submit(start_run, prepare_small()) for _each in range(2)]
        errors = [start.exception() for start in starts]
        first = next(start.result() for start in starts if not start.exception())
        [refused] = filter(None, errors)
        assert isinstance(refused, DeviceBusyError)
        assert first.name in str(refused)
        assert [run.name for run in list_runs(runs_directory())] == [first.name]


def test_who_waits_does_not_time_the_device_while_another_run_trains(
    prepare_small, made_timing, monkeypatch
):
    estimate = replace(made_timing, num_steps_timed=0)
    monkeypatch.setattr(plan, "predicted_timing", lambda *_: estimate)
    monkeypatch.setattr(launch, "measure_timing", lambda *_: made_timing)
    prepared = prepare_small()
    with hold_device("cpu", "first"):
        assert timing_for(prepared, wait=True) is estimate
    assert timing_for(prepared, wait=True) is made_timing


def start_from_a_wish(_folder):
    start_run(plan_run(Wish(changes={"num_steps": 20})))


def start_from_the_command_line(folder):
    assert main(["start", "--runs", str(folder)]) == 0


@pytest.mark.parametrize("start", [start_from_a_wish, start_from_the_command_line])
def test_one_start_cuts_its_text_into_tokens_once(
    already_timed, no_worker, monkeypatch, tmp_path, start
):
    cuts, cut = [], plan.dataset_of
    monkeypatch.setattr(plan, "dataset_of", lambda *asked: cuts.append(asked) or cut(*asked))
    start(tmp_path)
    assert no_worker == [False]
    assert len(cuts) == 1


@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_a_start_that_names_a_gpu_that_is_not_there_is_refused_before_anything_is_timed(
    gpus, monkeypatch, capsys, device
):
    gpus(GPU_a=20)
    monkeypatch.setattr(launch, "timing_for", None)
    assert main(["start", "--set", f"device={device}", "--set", "gpu=1"]) == 2
    assert "gpu is '1'" in capsys.readouterr().err
    assert not runs_directory().exists()


def test_a_start_is_refused_only_when_every_gpu_or_the_named_one_is_held(
    prepare_small, made_timing, no_worker, monkeypatch, gpus
):
    gpus(GPU_a=20, GPU_b=60)
    on_cuda = replace(made_timing, device="cuda")
    monkeypatch.setattr(launch, "timing_for", lambda *_arguments, **_options: on_cuda)
    with hold_device("cuda", "first", "GPU-b"):
        start_run(prepare_small(device="cuda"))
        with pytest.raises(DeviceBusyError, match="first is training on this CUDA"):
            start_run(prepare_small(device="cuda", gpu="GPU-b"))
        with (
            hold_device("cuda", "second"),
            pytest.raises(DeviceBusyError, match="is training on this CUDA"),
        ):
            start_run(prepare_small(device="cuda"))
    assert no_worker == [False]
