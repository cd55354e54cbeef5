"""A run on Live training is forked and taken away in the window of the runs."""

import io
import zipfile

import pytest
import torch

from core.train.config import TrainConfig
from core.train.control.device import DeviceBusyError
from core.train.learning.trainer import Trainer
from core.train.run.directory import read_info, runs_directory, write_info
from core.train.run.state import RunState, write_state
from core.train.start.launch import create_run
from core.train.start.plan import predict_run
from core.train.text.dataset import dataset_of
from core.train.worker.checkpoint import save_checkpoint
from pages.train.live_run import fork as fork_room
from pages.train.live_run import start as start_room
from tests.app.shown import captions, said

PAGE = "train/live_run"
SETTINGS = {"device": "cpu", "precision": "fp32", "num_layers": 1, "hidden_dim": 16, "num_steps": 4}
CHILD = "20260102t030405z-one-minute-00ff"


@pytest.fixture
def trained(made_timing):
    """A finished run with a checkpoint at its last step."""
    config = TrainConfig.from_json(SETTINGS)
    dataset = dataset_of(config)
    run = create_run(predict_run(config, dataset), made_timing, runs_directory())
    vocab_size, cpu = dataset.tokenizer.vocab_size, torch.device("cpu")
    trainer = Trainer(config, dataset.training_tokens, dataset.validation_tokens, vocab_size, cpu)
    trainer.step = 4
    save_checkpoint(run, trainer)
    write_state(run, RunState(state="finished", step=4, pid=1))
    return run


@pytest.fixture
def forked(monkeypatch):
    """Note what would be forked, instead of starting it."""
    made = []

    def start_fork(parent, prepared):
        made.append((parent, prepared.config))
        return runs_directory() / CHILD

    monkeypatch.setattr(fork_room, "start_fork", start_fork)
    monkeypatch.setattr(start_room, "measure", lambda *_: None)
    return made


def window(open_page):
    return open_page(PAGE).button(key="lr_manage").click().run()


def again(app):
    """Run the app with its window open: a dialog would be run alone, which no test of apps does."""
    return app.button(key="lr_manage").click().run()


def press(app):
    app.button(key="lr_fork_start").click()
    return again(app)


def test_a_fork_starts_from_the_chosen_checkpoint_with_what_was_changed(open_page, trained, forked):
    app = window(open_page)
    app.selectbox(key=f"lr_fork_{trained.name}_optimizer").set_value("sgd")
    app.selectbox(key=f"lr_fork_{trained.name}_schedule").set_value("constant")
    app.selectbox(key=f"lr_fork_{trained.name}_rank").set_value(4)
    app.number_input(key=f"lr_fork_{trained.name}_rate").set_value(0.1)
    app.number_input(key=f"lr_fork_{trained.name}_4_further").set_value(30)
    again(app)
    assert any("1,024 parameters learn" in each for each in captions(app))
    press(app)
    ((parent, config),) = forked
    assert (parent.run.name, parent.step) == (trained.name, 4)
    changed = (config.optimizer, config.schedule, config.learning_rate, config.num_steps)
    assert changed == ("sgd", "constant", 0.1, 34)
    assert config.lora_rank == 4
    assert CHILD in app.query_params["run"]


def test_a_refused_fork_stays_in_its_window_and_says_why(open_page, trained, monkeypatch, forked):
    def refuse(*_arguments):
        raise DeviceBusyError("Another run has the device.")

    monkeypatch.setattr(fork_room, "start_fork", refuse)
    app = window(open_page)
    press(app)
    assert "Another run has the device." in said(app)
    assert "run" not in app.query_params


def test_a_text_with_unknown_characters_is_refused_by_name(open_page, trained, forked):
    app = window(open_page)
    app.selectbox(key=f"lr_fork_{trained.name}_text").set_value("lessons")
    press(app)
    assert "has never seen" in said(app)
    assert forked == []


def test_weights_and_script_are_offered_and_a_fork_says_that_it_has_no_script(open_page, trained):
    labels = [each.proto.label for each in window(open_page).get("download_button")]
    assert labels == ["Weights as safetensors", "Its training as one script"]
    files = fork_room.zipped_script(trained)
    assert zipfile.ZipFile(io.BytesIO(files)).namelist() == ["train.py", "tokens.bin"]
    info = fork_room.find_parent(trained).to_json() | {"run": CHILD}
    write_info(trained, read_info(trained) | {"parent": info})
    app = window(open_page)
    assert [each.proto.label for each in app.get("download_button")] == ["Weights as safetensors"]
    assert any(CHILD in each for each in captions(app))
    assert (
        "forked at step 4 of the run of 2026-01-02"
        in app.button(key=f"lr_open_{trained.name}").label
    )
