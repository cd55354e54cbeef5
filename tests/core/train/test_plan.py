"""From a wish to a plan."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from core.train import plan
from core.train.plan import Wish, outline_run, plan_run, wished_config
from core.train.presets import predicted_seconds, preset_config


@pytest.fixture
def timed(made_timing):
    """Return timed(seconds, num_steps_timed): a measurement, or with 0 steps an estimate."""

    def make(seconds=0.01, num_steps_timed=20):
        return replace(made_timing, seconds_per_step=seconds, num_steps_timed=num_steps_timed)

    return make


@pytest.fixture
def known_speed(monkeypatch, timed):
    """Let every config take 10 ms a step."""
    monkeypatch.setattr("core.train.prepare.predicted_timing", lambda *_: timed())


def test_a_wish_without_changes_is_the_preset():
    assert wished_config(Wish()).shape(65) == preset_config("one_minute").shape(65)


def test_without_a_probe_the_device_in_use_is_a_cpu():
    assert plan.device_in_use()[0] == "cpu"


def test_with_a_probe_the_device_in_use_is_its_best_one(monkeypatch):
    best = SimpleNamespace(kind="cuda", name="A GPU")
    monkeypatch.setattr(plan, "cached_probe", lambda: SimpleNamespace(best_device=best))
    assert plan.device_in_use() == ("cuda", "A GPU")
    assert wished_config(Wish()).shape(65) == preset_config("one_minute", "cuda").shape(65)


def test_a_wished_learning_rate_ends_at_a_tenth_of_itself():
    config = wished_config(Wish(changes={"learning_rate": 0.02}))
    assert config.min_learning_rate == pytest.approx(0.002)


def test_the_outline_counts_tokens_of_the_text_and_guesses_ln_v():
    outline = outline_run(Wish(changes={"tokenizer": "byte"}))
    assert outline.vocab_size == 256
    assert outline.ln_vocab == pytest.approx(math.log(256))
    assert outline.unigram_entropy < outline.ln_vocab


def test_bytes_cost_the_embeddings_that_characters_do_not_need():
    by_byte = outline_run(Wish(size="110k", changes={"tokenizer": "byte"}))
    by_character = outline_run(Wish(size="110k"))
    more_rows = by_byte.vocab_size - by_character.vocab_size
    assert by_byte.parameters.amount - by_character.parameters.amount == more_rows * 64


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


def test_before_any_timing_the_plan_promises_no_seconds(monkeypatch):
    monkeypatch.setattr("core.train.prepare.predicted_timing", lambda *_: None)
    assert plan_run(Wish()).seconds is None
