import psutil
import pytest

from core.train.prepare import prepare, seconds_item
from core.train.presets import predicted_seconds
from core.train.timing import measure_timing

TEXT = ("the quick brown fox jumps over the lazy dog. " * 60).encode()


def test_before_any_timing_the_bytes_are_known_and_the_seconds_are_not(small_config):
    prepared = prepare(small_config(), TEXT, "fox.txt")
    assert prepared.parameters.amount > 0
    assert prepared.memory.unit == "bytes"
    assert (prepared.timing, prepared.seconds) == (None, None)


@pytest.mark.slow
def test_after_a_timing_the_seconds_come_with_their_formula(small_config):
    config = small_config()
    measure_timing(config, prepare(config, TEXT).dataset.tokenizer.vocab_size)
    prepared = prepare(config, TEXT)
    seconds = prepared.seconds
    assert seconds.low <= seconds.amount <= seconds.high
    expected = predicted_seconds(config, prepared.timing.seconds_per_step)
    assert seconds.amount == pytest.approx(expected)
    assert "20 steps timed on CPU" in seconds.source


def test_the_governor_is_part_of_the_seconds(small_config, made_timing):
    item = seconds_item(small_config(max_steps_per_second=2.0, num_steps=100), made_timing)
    assert item.amount == pytest.approx(6 + 100 * 0.5 / 0.85)


def test_a_batch_that_cannot_fit_is_refused_with_the_predicted_bytes(small_config, monkeypatch):
    class Memory:
        available = 1 << 20

    monkeypatch.setattr(psutil, "virtual_memory", Memory)
    with pytest.raises(
        ValueError, match=r"needs [\d.]+ MiB by prediction, and 819 KiB of the 1.00 MiB"
    ):
        prepare(small_config(batch_size=512), TEXT)


def test_an_accelerator_is_asked_for_its_own_memory(small_config, made_timing, monkeypatch):
    from dataclasses import replace

    small = replace(made_timing, device="cuda", device_bytes=1 << 16)
    monkeypatch.setattr("core.train.prepare.predicted_timing", lambda _config, _vocab: small)
    with pytest.raises(ValueError, match=r"of the 64.0 KiB of free memory"):
        prepare(small_config(batch_size=512), TEXT)


def test_unresolved_precision_is_counted_as_the_larger(small_config):
    auto, fp32 = (prepare(small_config(precision=p), TEXT).memory for p in ("auto", "fp32"))
    assert auto.amount == fp32.amount


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "file is empty"), (b"a" * 4000, "repeats one character"), (b"ab" * 40, "80 tokens")],
)
def test_a_text_that_cannot_be_learnt_from_is_refused(small_config, content, message):
    with pytest.raises(ValueError, match=message):
        prepare(small_config(), content)
