"""A run measured at its newest checkpoint, or a fresh model; who holds the device; the child."""

import json

import pytest
import torch

from core.train.control.device import hold_device
from core.train.profiler import __main__ as child
from core.train.profiler import measure as asks
from core.train.profiler.measure import HOLDER, Subject, is_held_by_pause, measure
from core.train.profiler.results import recorded
from core.train.profiler.trace import read_trace
from core.train.run.state import RunState, write_state
from core.train.worker.checkpoint import save_checkpoint


@pytest.fixture
def trained(make_trainer, prepared_run, monkeypatch):
    """Return trained(**changes): a run with a checkpoint after two steps, and its trainer."""

    def make(**changes):
        trainer, run = make_trainer(**changes), prepared_run(**changes)
        monkeypatch.setenv("B2G_RUNS_DIR", str(run.parent))
        for _step in range(2):
            trainer.train_step()
        save_checkpoint(run, trainer)
        return run, trainer

    return make


@pytest.mark.parametrize(
    "changes",
    [{}, {"family": "llama"}, {"optimizer": "muon"}],
    ids=["gpt", "llama", "muon"],
)
def test_a_run_is_opened_as_its_worker_would_go_on(trained, changes):
    run, trainer = trained(**changes)
    opened = child.open_trainer(Subject(run=run.name))
    assert opened.step == 2
    assert opened.train_step().loss == trainer.train_step().loss
    assert all(map(torch.equal, opened.model.parameters(), trainer.model.parameters()))


def test_a_result_belongs_to_a_checkpoint(trained):
    run, trainer = trained()
    subject = Subject(run=run.name)
    before = subject.key
    assert (subject.step, subject.key) == (2, before)
    trainer.train_step()
    save_checkpoint(run, trainer)
    assert (subject.step, subject.key == before) == (3, False)
    assert Subject(precision="bf16").key != Subject().key


def test_beside_a_run_that_trains_nothing_is_measured_beside_a_paused_one_it_is(trained):
    run, _trainer = trained()
    subject = Subject(run=run.name)
    assert not is_held_by_pause(subject)
    with hold_device("cpu", HOLDER):
        assert not is_held_by_pause(subject)  # another measurement: it waits in line
    with hold_device("cpu", run.name):
        write_state(run, RunState(state="running", step=2, pid=1, time=1e12))
        monkey = asks.read_state
        state = {"state": "running"}
        asks.read_state = lambda _run, _now: RunState(**state)
        try:
            with pytest.raises(ValueError, match="training on this CPU"):
                is_held_by_pause(subject)
            state["state"] = "paused"
            assert is_held_by_pause(subject)
        finally:
            asks.read_state = monkey


@pytest.mark.slow
def test_the_child_leaves_an_answer_that_can_be_read_and_the_run_as_it_was(trained, tmp_path):
    run, _trainer = trained()
    files = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    found = measure("operators", Subject(run=run.name), num_steps=1)
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == files
    assert {row.name for row in read_trace(found.trace).ranges} >= {
        "data", "forward", "backward", "clip", "optimizer", "logging",
    }  # fmt: skip
    assert b"host_name" not in __import__("gzip").decompress(found.trace)
    question = json.dumps({"run": run.name, "what": "numbers", "num_steps": 1})
    child.main(question, str(tmp_path))
    assert (tmp_path / "numbers.json").exists()


def test_a_run_without_a_checkpoint_and_a_run_that_is_gone_are_sentences(prepared_run, monkeypatch):
    run = prepared_run()
    monkeypatch.setenv("B2G_RUNS_DIR", str(run.parent))
    with pytest.raises(ValueError, match="has no checkpoint yet"):
        _key = Subject(run=run.name).key
    with pytest.raises(ValueError, match="is not the name of a run"):
        _key = Subject(run="../secrets").key


def test_the_recordings_can_be_read_and_hold_what_the_lessons_show():
    step = recorded("anatomy", "110k", "fp32")
    assert step.seconds("backward") > step.seconds("forward") > 0
    peaks = {max(it.num_bytes for it in step.measured), max(it.num_bytes for it in step.simulated)}
    assert len(peaks) == 1
    assert read_trace(recorded("operators", "110k", "fp32").trace).num_calls > 1000
    assert recorded("numbers", "110k", "pure_bf16").dtype == "bfloat16"
    assert recorded("compile", "110k", "fp32").ready > 0
    assert recorded("item", "110k", "fp32").kind == "item"
    assert recorded("anatomy", "10.7M", "fp32") is None
