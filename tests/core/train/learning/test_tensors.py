"""Gradients of a real backward pass: the trainer's own, in a process that the pages do not load."""

from pathlib import Path

import numpy as np
import pytest

from core.train.learning import tensors
from core.train.learning.tensors import (
    GradientSample,
    from_bytes,
    measure_gradients,
    newest_checkpoint,
    read_weight,
    runs_with_weights,
    sample_here,
    to_bytes,
)
from core.train.worker.checkpoint import save_checkpoint


@pytest.fixture
def trained_run(make_trainer, prepared_run):
    """A run directory with a checkpoint after three steps, and its trainer."""
    trainer, run = make_trainer(grad_clip=0.0), prepared_run(grad_clip=0.0)
    for _step in range(3):
        trainer.train_step()
    save_checkpoint(run, trainer)
    return run, trainer


def test_a_runs_gradients_are_those_of_its_next_step(trained_run):
    run, trainer = trained_run
    sample = sample_here(run)
    result = trainer.train_step()
    assert (sample.run, sample.step) == (run.name, 3)
    assert sample.loss == pytest.approx(result.loss, rel=1e-6)
    weights = dict(trainer.model.named_parameters())
    for name in ("tokens.weight", "blocks.0.attention.qkv.weight"):
        np.testing.assert_allclose(
            sample.tensors[name], weights[name].grad.flatten().numpy(), rtol=1e-4, atol=1e-8
        )


def test_the_sample_holds_weights_and_activations_as_flat_float32(trained_run):
    sample = sample_here(trained_run[0])
    weights = ("tokens", "blocks.0.attention.qkv", "blocks.0.feed_forward.up")
    assert set(sample.tensors) == {"hidden.0", *(f"{name}.weight" for name in weights)}
    for name, values in sample.tensors.items():
        assert values.dtype == np.float32, name
        assert values.ndim == 1, name
        assert np.isfinite(values).all(), name
        assert np.abs(values).max() > 0, name
    assert sample.tensors["hidden.0"].size == 4 * 16 * 16  # sequences, tokens, width
    assert sample.values().size == sum(values.size for values in sample.tensors.values())


def test_large_tensors_are_thinned_evenly(trained_run, monkeypatch):
    whole = sample_here(trained_run[0])
    monkeypatch.setattr(tensors, "MAX_VALUES", 300)
    thin = sample_here(trained_run[0])
    for name, values in thin.tensors.items():
        step = -(-whole.tensors[name].size // 300)
        np.testing.assert_array_equal(values, whole.tensors[name][::step])


def test_a_sample_survives_its_bytes():
    sample = GradientSample(run="", step=0, loss=4.5, tensors={"a": np.ones(3, np.float32)})
    again = from_bytes(to_bytes(sample))
    assert (again.run, again.step, again.loss) == ("", 0, 4.5)
    assert again.tensors["a"].tolist() == [1, 1, 1]


@pytest.mark.slow
def test_a_child_computes_the_same_gradients_of_a_fresh_model_twice():
    first, second = measure_gradients(), measure_gradients()
    assert (first.run, first.step) == ("", 0)
    assert first.loss == pytest.approx(4.65, abs=0.15)  # ln of about 100 characters
    np.testing.assert_array_equal(first.values(), second.values())
    assert first.values().size > 100_000


@pytest.mark.slow
def test_a_child_reads_a_runs_checkpoint(trained_run):
    np.testing.assert_allclose(
        measure_gradients(trained_run[0]).values(), sample_here(trained_run[0]).values(), rtol=1e-4
    )


def test_a_child_that_fails_says_why(monkeypatch):
    monkeypatch.setattr("core.train.child.ROOT", Path("/"))
    monkeypatch.setattr("core.train.child.child_environment", dict)
    with pytest.raises(ValueError, match="The gradients could not be computed: "):
        measure_gradients()


@pytest.mark.slow
def test_a_matrix_of_the_newest_checkpoint_is_the_models_own(make_run, make_trainer):
    trainer = make_trainer()
    run = make_run(config={"num_layers": trainer.config.num_layers})
    save_checkpoint(run, trainer)
    last = trainer.config.num_layers - 1
    expected = trainer.model.blocks[last].feed_forward.out.weight.detach().double().numpy()
    assert np.array_equal(read_weight(run, "out"), expected)


@pytest.mark.parametrize("ask", [newest_checkpoint, measure_gradients])
def test_a_run_without_a_checkpoint_is_refused_in_a_sentence(run_directory, ask):
    with pytest.raises(ValueError, match=r"has no checkpoint yet; wait for its first one\."):
        ask(run_directory)


def test_only_runs_with_a_checkpoint_are_offered(make_run, make_trainer):
    old, new = make_run(), make_run("20260103t030405z-one-minute-00ff")
    assert runs_with_weights(old.parent) == ()
    save_checkpoint(old, make_trainer())
    assert runs_with_weights(new.parent) == (old.name,)
    assert runs_with_weights(new.parent / "nowhere") == ()


@pytest.fixture
def damaged_run(run_directory):
    """A run whose only checkpoint cannot be read."""
    (run_directory / "ckpt").mkdir()
    (run_directory / "ckpt" / "step-00000001.pt").write_bytes(b"no checkpoint")
    return run_directory


@pytest.mark.slow
def test_a_damaged_checkpoint_is_refused_with_the_reason(damaged_run):
    with pytest.raises(ValueError, match=r"step-00000001\.pt cannot be read \(.*Error"):
        read_weight(damaged_run, "tokens")
