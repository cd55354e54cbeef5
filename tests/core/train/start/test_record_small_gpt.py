"""The command that makes the shipped model, on a training of a few steps."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import record_small_gpt
from benchmarks.record_small_gpt import record, small_config
from core.train.learning.recording import SMALL_GPT, read_recording
from core.train.learning.schedule import milestone_steps
from core.train.text.dataset import build_dataset

FOX = b"the quick brown fox jumps over the lazy dog. " * 60


@pytest.fixture
def tiny():
    """A config of a few steps, and the text it learns."""
    shape = {"num_layers": 1, "hidden_dim": 16, "num_heads": 2, "seq_len": 16, "eval_batches": 2}
    config = replace(small_config(20), corpus="upload", **shape)
    return config, build_dataset(config, FOX, "fox.txt")


def test_the_same_command_twice_gives_the_same_weights(tiny, capsys):
    first, second = record(*tiny), record(*tiny)
    assert first.steps == second.steps == milestone_steps(20)
    assert first.losses == second.losses
    for step in first.steps:
        for name, weight in first.weights[step].items():
            assert np.array_equal(weight, second.weights[step][name]), (step, name)
    assert "step 20: loss" in capsys.readouterr().err


def test_it_learns_and_keeps_only_text_that_it_has_not_learned_from(tiny):
    config, dataset = tiny
    made = record(config, dataset)
    assert made.losses[20] < made.losses[0]
    assert made.tokenizer == dataset.tokenizer
    validation = dataset.tokenizer.decode(dataset.validation_tokens)
    assert validation.startswith(made.text)


def test_the_file_is_written_where_it_is_read(tiny, monkeypatch, tmp_path):
    monkeypatch.setattr(record_small_gpt, "small_config", lambda: tiny[0])
    monkeypatch.setattr(record_small_gpt, "build_dataset", lambda _config: tiny[1])
    path = tmp_path / "recordings" / "own.npz"
    record_small_gpt.main(path)
    assert read_recording(path).steps == milestone_steps(20)


def test_the_shipped_file_is_of_this_command():
    assert read_recording(SMALL_GPT).config == small_config()
