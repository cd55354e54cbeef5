"""From a wish to a plan."""

import math
from dataclasses import replace
from types import SimpleNamespace

import psutil
import pytest

from core.machine.kept_probe import DtypeVerdict, Trial
from core.train.start import plan
from core.train.start.plan import Wish, outline_run, plan_run, seconds_item, wished_config
from core.train.start.presets import predicted_seconds
from core.train.start.timing import measure_timing


@pytest.fixture
def known_speed(monkeypatch, made_timing):
    """Let every config take 10 ms a step."""
    timing = replace(made_timing, seconds_per_step=0.01)
    monkeypatch.setattr(plan, "predicted_timing", lambda *_: timing)


@pytest.mark.parametrize(
    ("kind", "works", "device"),
    [
        ("cuda", True, ("cuda", "A GPU")),
        ("rocm", True, ("cuda", "A GPU")),
        ("mps", True, ("mps", "A GPU")),
        ("xpu", True, ("cpu", "A CPU")),
        ("cuda", False, ("cpu", "A CPU")),
    ],
    ids=["NVIDIA", "AMD", "Apple", "Intel", "a card that this torch has no kernels for"],
)
def test_with_a_probe_the_device_in_use_is_the_best_that_torch_trains_on(
    made_probe, monkeypatch, kind, works, device
):
    cpu, gpu = made_probe.devices
    trials = (Trial(operation="add", works=works),)
    float32 = DtypeVerdict(name="float32", item_bytes=4, trials=trials)
    found = (cpu, replace(gpu, kind=kind, dtypes=(float32,)))
    monkeypatch.setattr(plan, "cached_probe", lambda: replace(made_probe, devices=found))
    assert plan.device_in_use() == device


def test_the_outline_counts_tokens_of_the_text_and_guesses_ln_v():
    outline = outline_run(Wish(changes={"tokenizer": "byte"}))
    assert outline.vocab_size == 256
    assert outline.ln_vocab == pytest.approx(math.log(256))
    assert outline.unigram_entropy < outline.ln_vocab


@pytest.mark.slow
def test_bpe_costs_an_embedding_row_for_each_token_of_its_vocabulary():
    small, large = (
        outline_run(Wish(size="110k", changes={"tokenizer": "bpe", "bpe_vocab_size": size}))
        for size in (512, 1024)
    )
    assert (small.vocab_size, large.vocab_size) == (512, 1024)
    assert large.parameters.amount - small.parameters.amount == 512 * 64


def test_heads_that_do_not_divide_the_width_are_refused_with_the_way_out():
    with pytest.raises(ValueError, match="multiple of 3"):
        outline_run(Wish(changes={"num_heads": 3, "hidden_dim": 64}))


def test_the_planned_steps_fill_the_duration_at_the_known_speed(known_speed):
    prepared = plan_run(Wish(duration="one_minute"))
    assert predicted_seconds(prepared.config, 0.01) == pytest.approx(60, abs=0.02)
    assert prepared.seconds.amount == pytest.approx(60, abs=0.02)


def test_a_wished_number_of_steps_stands_whatever_it_lasts(known_speed):
    assert plan_run(Wish(changes={"num_steps": 50})).config.num_steps == 50


def test_wished_intervals_survive_the_fitting(known_speed):
    config = plan_run(Wish(changes={"eval_interval": 7, "warmup_steps": 0})).config
    assert (config.eval_interval, config.warmup_steps) == (7, 0)
    assert config.sample_interval == config.num_steps // 20


@pytest.mark.slow
def test_after_a_timing_the_seconds_come_with_their_formula(prepare_small):
    before = prepare_small()
    measure_timing(before.config, before.dataset.tokenizer.vocab_size)
    prepared = prepare_small()
    seconds = prepared.seconds
    assert seconds.low <= seconds.amount <= seconds.high
    expected = predicted_seconds(prepared.config, prepared.timing.seconds_per_step)
    assert seconds.amount == pytest.approx(expected)
    assert "20 steps timed on CPU" in seconds.source


def test_seconds_that_a_limit_ends_come_with_its_formula(small_config, made_timing):
    slow = replace(made_timing, seconds_per_step=10.0, fastest_seconds=1.0, slowest_seconds=20.0)
    item = seconds_item(small_config(num_steps=50, max_seconds=60.0), slow)
    assert item.amount == 6 + 60
    assert "max_seconds" in item.formula
    assert (item.low, item.high) == (pytest.approx(6 + 50 / 0.85), 66)


def test_a_wished_number_of_steps_has_no_time_limit_and_a_duration_has():
    assert wished_config(Wish()).max_seconds == 60
    assert wished_config(Wish(changes={"num_steps": 50})).max_seconds is None


def test_a_batch_that_cannot_fit_is_refused_with_the_predicted_bytes(prepare_small, monkeypatch):
    memory = SimpleNamespace(available=1 << 20)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    with pytest.raises(
        ValueError, match=r"needs [\d.]+ MiB by prediction, and 819 KiB of the 1.00 MiB"
    ):
        prepare_small(batch_size=512)


def test_an_accelerator_is_asked_for_its_own_memory(prepare_small, made_timing, monkeypatch):
    small = replace(made_timing, device="cuda", device_bytes=1 << 16)
    monkeypatch.setattr(plan, "predicted_timing", lambda *_: small)
    with pytest.raises(ValueError, match=r"of the 64.0 KiB of the GPU's memory"):
        prepare_small(batch_size=512)


def test_unresolved_precision_is_counted_as_the_larger(prepare_small):
    auto, fp32 = (prepare_small(precision=p).memory for p in ("auto", "fp32"))
    assert auto.amount == fp32.amount


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "file is empty"), (b"a" * 4000, "repeats one character"), (b"ab" * 40, "80 tokens")],
)
def test_a_text_that_cannot_be_learnt_from_is_refused(prepare_small, content, message):
    with pytest.raises(ValueError, match=message):
        prepare_small(content)
