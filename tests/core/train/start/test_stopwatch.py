import io
import json
import sys
from types import SimpleNamespace

import pytest
import torch

from core.train.learning.trainer import Trainer
from core.train.start.stopwatch import fastest, main, time_steps


def test_twenty_steps_are_timed(small_config):
    seconds = time_steps(small_config(), 30, torch.device("cpu"))
    assert len(seconds) == 20
    assert all(value > 0 for value in seconds)


def test_long_steps_are_timed_once(small_config, monkeypatch):
    monkeypatch.setattr("core.train.start.stopwatch.LONG_STEP_SECONDS", 0.0)
    monkeypatch.setattr("core.train.start.stopwatch.MAX_SECONDS", 0.0)
    assert len(time_steps(small_config(), 30, torch.device("cpu"))) == 1


def test_the_cold_first_step_does_not_decide_how_many_are_timed(small_config, monkeypatch):
    seconds = iter([9.0, *[0.01] * 30])

    def step(_trainer):
        return SimpleNamespace(seconds=next(seconds))

    monkeypatch.setattr(Trainer, "train_step", step)
    assert time_steps(small_config(), 30, torch.device("cpu")) == [0.01] * 20


def test_a_fixed_precision_is_the_only_one_tried(small_config):
    assert set(fastest(small_config(precision="bf16"), 30)["tried"]) == {"bf16"}


def test_the_answer_on_standard_output_is_json(small_config, monkeypatch, capsys):
    question = {"config": small_config().to_json(), "vocab_size": 30}
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(question)))
    threads = torch.get_num_threads()
    main()
    torch.set_num_threads(threads)
    answer = json.loads(capsys.readouterr().out)
    assert answer["precision"] == "fp32"
    assert answer["seconds_per_step"] == pytest.approx(answer["tried"]["fp32"])
