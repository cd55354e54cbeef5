"""A run's own step on the page of the computation graph, and the way there from the live run."""

import pytest

from core.train.config import TrainConfig
from core.train.learning.step_graph import capture_here
from core.train.learning.trainer import Trainer
from core.train.run.directory import runs_directory, write_info
from core.train.run.state import RunState, write_state
from core.train.text.dataset import build_dataset, save_dataset
from core.train.worker.checkpoint import save_checkpoint
from pages.autograd.computation_graph import run_step
from tests.app.shown import captions, headline, page_links

PAGE, LIVE = "autograd/computation_graph", "train/live_run"
NAME = "20260102t030405z-one-minute-00ff"
TEXT = b"the quick brown fox jumps over the lazy dog. " * 60
SMALL = {
    "name": "tiny", "corpus": "upload", "device": "cpu", "precision": "fp32", "num_layers": 1,
    "hidden_dim": 16, "num_heads": 2, "seq_len": 16, "batch_size": 4, "num_steps": 2,
}  # fmt: skip


@pytest.fixture
def tiny_run():
    """A finished run of two steps, with its text and its checkpoint."""
    import torch

    run, config = runs_directory() / NAME, TrainConfig.from_json(SMALL)
    run.mkdir(parents=True)
    dataset = build_dataset(config, TEXT, "fox.txt")
    save_dataset(dataset, run / "data")
    write_info(run, {"name": NAME, "created": 1_767_323_045.0, "config": config.to_json(),
                     "resolved": {"device": "cpu"}})  # fmt: skip
    trainer = Trainer(config, dataset.training_tokens, dataset.validation_tokens,
                      dataset.tokenizer.vocab_size, torch.device("cpu"))  # fmt: skip
    for _step in range(2):
        trainer.train_step()
    save_checkpoint(run, trainer)
    write_state(run, RunState(state="finished", step=2, pid=1, time=1_767_323_100.0))
    return run


@pytest.fixture
def asked(monkeypatch):
    """Capture in this process instead of a child, and note each time."""
    calls = []

    def capture(run, step):
        calls.append((run.name, step))
        return capture_here(run, step)

    run_step._captured.clear()
    monkeypatch.setattr(run_step, "graph_of_step", capture)
    yield calls
    run_step._captured.clear()


def test_the_page_shows_the_graph_of_the_runs_newest_checkpoint_and_asks_for_it_once(
    open_page, tiny_run, asked
):
    capture = capture_here(tiny_run)
    for _reader in range(2):
        app = open_page(PAGE, graph_run=NAME)
        assert headline(app).startswith(
            f"tiny after step 2: backward runs {len(capture.order)} nodes"
        )
    assert asked == [(NAME, 2)]
    assert any("4 of the batch's 4 sequences of 16 tokens" in each for each in captions(app))
    assert any("run=" + NAME in link.query_string for link in page_links(app))


def test_the_button_leads_back_to_a_program(open_page, tiny_run, asked):
    app = open_page(PAGE, graph_run=NAME)
    app.button(key="graph_to_program").click().run()
    assert app.text_input(key="graph_run").value == ""
    assert "tiny" not in headline(app)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("../secrets", "is not the name of a run"),
        ("20260102t030405z-gone-00ff", "There is no run 20260102t030405z-gone-00ff"),
        (NAME, "has no checkpoint yet; wait for its first one."),
    ],
)
def test_a_run_that_cannot_be_shown_is_told_in_a_sentence(open_page, a_run, asked, name, sentence):
    app = open_page(PAGE, graph_run=name)
    assert headline(app) == "There is no such graph."
    assert sentence in app.error[0].value
    assert app.button(key="graph_to_program")
    assert asked == []


def test_a_model_too_large_starts_no_child_and_is_refused_in_the_readers_language(
    open_page, tiny_run, asked, monkeypatch
):
    monkeypatch.setattr("core.autograd.built_graphs.MAX_BYTES", 1000)
    english = open_page(PAGE, graph_run=NAME).error[0].value
    assert "Capturing this graph takes about" in english
    assert open_page(PAGE, graph_run=NAME, lang="zh").error[0].value != english
    assert asked == []


def test_a_child_that_fails_is_told_and_cannot_be_started_at_every_click(
    open_page, tiny_run, asked, monkeypatch
):
    def fail(_run, _step):
        asked.append("failed")
        raise ValueError("The step could not be captured: it rains")

    monkeypatch.setattr(run_step, "graph_of_step", fail)
    app = open_page(PAGE, graph_run=NAME)
    assert "it rains" in app.error[0].value
    for _click in range(6):
        app.run()
    assert "At most 5 times" in app.error[0].value
    assert asked == ["failed"] * 5


def test_the_live_run_leads_to_its_graph_once_it_has_a_checkpoint(open_page, tiny_run):
    def links(app):
        return [each for each in page_links(app) if f"graph_run={NAME}" in each.query_string]

    app = open_page(LIVE, run=NAME)
    (link,) = links(app)
    assert link.label == "The graph of this step\N{NO-BREAK SPACE}→"
    assert len(links(app.button(key="lr_manage").click().run())) == 2  # in the window of runs too
    for path in (tiny_run / "ckpt").iterdir():
        path.unlink()
    assert links(open_page(LIVE, run=NAME)) == []
