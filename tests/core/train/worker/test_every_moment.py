"""Whatever happens to a run: all readers can open its directory, and a sentence says what it is."""

import csv
import re

import pytest
import torch

from core.language import install_provider
from core.train.__main__ import main as command_line
from core.train.control.commands import StopSignal, send
from core.train.learning.trainer import Trainer
from core.train.run.reader import RunReader
from core.train.run.shelf import summarize
from core.train.run.state import read_state, state_sentence
from core.train.worker.__main__ import EXIT_FAILED, main
from pages.components.live_chart.words import live_words

pytestmark = pytest.mark.slow
CHINESE = re.compile(r"[\u4e00-\u9fff]{4}")


def in_chinese(call):
    install_provider(lambda: "zh")
    try:
        return call()
    finally:
        install_provider(None)


def check_readers(directory, capsys, tmp_path):
    """Open the directory with all that reads runs; return its state."""
    state = read_state(directory)
    summary = summarize(directory)
    assert (summary.error, summary.state) == ("", state.state)
    steps = set(RunReader(directory).read_new().records["step"].tolist())  # some of two attempts
    assert steps == set(range(1, state.step + 1))
    table = tmp_path / "steps.csv"
    assert command_line(["export", str(directory), "--csv", str(table)]) == 0
    with table.open() as file:
        assert {int(row["step"]) for row in csv.DictReader(file)} == steps
    assert command_line(["status", str(directory)]) == 0
    assert state.state in capsys.readouterr().out
    return state


def check_sentence(state):
    """Say in both languages what happened: the state's word, and the sentence of a failure."""
    word = f"state_{state.state}"
    english, chinese = live_words()[word], in_chinese(live_words)[word]
    assert english != chinese
    if state.state in {"failed", "crashed"}:
        told = state_sentence(state)
        assert len(told.split()) > 8
        assert told.endswith(".")
        assert CHINESE.search(in_chinese(lambda: state_sentence(state)))


@pytest.fixture
def moment(capsys, tmp_path, monkeypatch):
    """Return moment(directory): its state, after all readers have opened it."""
    monkeypatch.setattr(StopSignal, "listen", lambda signal: signal)

    def look(directory):
        state = check_readers(directory, capsys, tmp_path)
        check_sentence(state)
        return state.state, state.reason, state.step

    return look


def test_start_pause_step_stop_and_resume(prepared_run, moment, sleep_instead):
    directory = prepared_run()
    assert moment(directory)[0] == "starting"
    seen = []
    orders = iter(("step", "stop"))
    send(directory, "pause")

    def look_and_go_on(_seconds):
        seen.append(moment(directory))
        send(directory, next(orders, "resume"))

    sleep_instead(look_and_go_on)
    assert main([str(directory)]) == 0
    assert [state for state, _reason, _step in seen] == ["paused", "paused"]
    assert [step for _state, _reason, step in seen] == [0, 1]
    assert moment(directory) == ("stopped", "", 1)
    send(directory, "resume")
    assert main([str(directory)]) == 0
    assert moment(directory) == ("finished", "", 12)


def fails_at(step, error, patch):
    """Let a step end the run as torch would."""
    launch = Trainer.launch_step

    def launch_or_fail(trainer, *arguments):
        if trainer.step == step:
            error()
        return launch(trainer, *arguments)

    patch.setattr(Trainer, "launch_step", launch_or_fail)


def lose_the_device():
    raise torch.AcceleratorError("CUDA error: unspecified launch failure")


@pytest.mark.parametrize(
    ("error", "reason"),
    [(lambda: torch.empty(1 << 58), "out_of_memory"), (lose_the_device, "device_lost")],
)
def test_out_of_memory_and_a_lost_device(prepared_run, moment, monkeypatch, error, reason):
    directory = prepared_run()
    with monkeypatch.context() as patch:
        fails_at(6, error, patch)
        assert main([str(directory)]) == EXIT_FAILED
    assert moment(directory)[:2] == ("failed", reason)
    send(directory, "resume")
    assert main([str(directory)]) == 0
    assert moment(directory) == ("finished", "", 12)
