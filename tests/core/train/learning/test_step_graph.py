"""The graph of a step: its gradients are those of the run's model, and refusals are sentences."""

import shutil
import subprocess

import pytest

from core.autograd.graph import to_json
from core.train.learning.step_graph import capture_here, graph_of_step, main, sequences_that_fit
from core.train.learning.tensors import load_trained, newest_checkpoint, next_batch
from core.train.worker.checkpoint import save_checkpoint


@pytest.fixture
def trained_run(make_trainer, prepared_run):
    """A run directory with checkpoints after two and three steps."""
    trainer, run = make_trainer(), prepared_run()
    for _step in range(3):
        trainer.train_step()
        if trainer.step > 1:
            save_checkpoint(run, trainer)
    return run


def plain_gradients(run, count):
    """Return the gradients of the next step's first sequences, by torch alone."""
    trained = load_trained(run, newest_checkpoint(run))
    loss = trained.model(*next_batch(trained.config, trained.dataset, trained.step + 1, count))
    loss.backward()
    return loss.item(), {name: p.grad for name, p in trained.model.named_parameters()}


def check_gradients(capture, run, count):
    loss, gradients = plain_gradients(run, count)
    assert capture.result.values[0] == pytest.approx(loss, rel=1e-6)
    for name, gradient in gradients.items():
        told = capture.leaves[name].grad
        assert told.shape == tuple(gradient.shape), name
        assert told.statistics.norm == pytest.approx(gradient.norm().item(), rel=1e-4), name
        if told.values:
            assert told.values == pytest.approx(gradient.flatten().tolist(), rel=1e-4, abs=1e-8)
    assert any(capture.leaves[name].grad.values for name in gradients)
    assert set(gradients) <= set(capture.leaves)


def test_the_gradients_of_the_capture_are_those_of_the_loaded_model(trained_run):
    capture = capture_here(trained_run)
    assert (capture.error, capture.limits_hit) == (None, ())
    assert capture.leaves["token_ids"].value.shape == (4, 16)  # the small config's whole batch
    check_gradients(capture, trained_run, 4)


@pytest.mark.slow
def test_a_child_captures_the_same_graph(trained_run):
    told, here = graph_of_step(trained_run), capture_here(trained_run)
    assert [node.id for node in told.nodes] == [node.id for node in here.nodes]
    assert (told.order, told.planned) == (here.order, here.planned)
    check_gradients(told, trained_run, 4)


def test_an_older_checkpoint_is_captured_by_its_step(trained_run):
    newest, older = capture_here(trained_run, 3), capture_here(trained_run, 2)
    assert newest.result == capture_here(trained_run).result
    assert older.result != newest.result


def test_a_batch_too_large_is_halved_until_it_fits_and_begins_alike(trained_run, monkeypatch):
    assert sequences_that_fit(trained_run) == 4
    needed = []
    monkeypatch.setattr("core.autograd.built_graphs.format_bytes", needed.append)
    monkeypatch.setattr("core.autograd.built_graphs.MAX_BYTES", 0)
    with pytest.raises(ValueError, match="Capturing this graph takes about"):
        sequences_that_fit(trained_run)
    four, _limit, two, _limit, one, _limit = needed
    assert four > two > one
    monkeypatch.setattr("core.autograd.built_graphs.MAX_BYTES", two)
    assert sequences_that_fit(trained_run) == 2
    check_gradients(capture_here(trained_run), trained_run, 2)
    trained = load_trained(trained_run, newest_checkpoint(trained_run))
    whole, _targets = next_batch(trained.config, trained.dataset, 4)
    part, _targets = next_batch(trained.config, trained.dataset, 4, 2)
    assert whole[:2].equal(part)


def test_a_model_of_which_no_sequence_fits_is_refused_before_a_child_starts(
    trained_run, monkeypatch, fails
):
    monkeypatch.setattr("core.autograd.built_graphs.MAX_BYTES", 1000)
    fails("core.train.child.subprocess.run", AssertionError("a child was started"))
    with pytest.raises(
        ValueError, match=r"Capturing this graph takes about .* the limit is 1,000 B"
    ):
        graph_of_step(trained_run)


def test_a_run_without_a_checkpoint_is_refused_in_a_sentence(run_directory):
    with pytest.raises(ValueError, match=r"has no checkpoint yet; wait for its first one\."):
        graph_of_step(run_directory)


def test_a_run_that_has_lost_its_text_is_refused_in_a_sentence(trained_run):
    (trained_run / "data" / "vocabulary.json").unlink()
    with pytest.raises(
        ValueError, match=r"The text of run .* cannot be read \(FileNotFoundError\)"
    ):
        graph_of_step(trained_run)


def test_a_child_that_takes_too_long_is_given_up(trained_run, fails):
    fails("core.train.child.subprocess.run", subprocess.TimeoutExpired("python", 120))
    with pytest.raises(ValueError, match="No graph came within 120 s; try again"):
        graph_of_step(trained_run)


@pytest.mark.slow
def test_a_damaged_checkpoint_is_refused_with_the_reason(trained_run):
    newest_checkpoint(trained_run).write_bytes(b"no checkpoint")
    with pytest.raises(ValueError, match=r"step-00000003.pt cannot be read .RuntimeError"):
        graph_of_step(trained_run)


def test_the_program_writes_the_capture_or_names_its_error(trained_run, capsysbinary):
    main(str(trained_run), "2")
    assert capsysbinary.readouterr().out.startswith(
        to_json(capture_here(trained_run, 2))[:40].encode()
    )
    with pytest.raises(SystemExit, match="FileNotFoundError"):
        main(str(trained_run), "1")
    shutil.rmtree(trained_run / "ckpt")
    with pytest.raises(SystemExit, match="has no checkpoint yet"):
        main(str(trained_run))
