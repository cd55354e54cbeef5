import json
import math

import pytest

from core.train.config import LIMITS, TrainConfig


def test_a_config_survives_json():
    config = TrainConfig(num_layers=3, learning_rate=1e-4, max_steps_per_second=2.5)
    assert TrainConfig.from_json(json.loads(json.dumps(config.to_json()))) == config


@pytest.mark.parametrize("name", sorted(LIMITS))
def test_a_value_outside_its_range_is_refused_with_the_range(name):
    low, high = LIMITS[name]
    for value in (low - 1, high * 2 + 1, math.nan):
        with pytest.raises(ValueError, match=rf"{name} is .*; choose a number from {low}"):
            TrainConfig(**{name: value})


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("tokenizer", "character, byte, bpe"),
        ("precision", "auto, fp32, bf16"),
        ("device", "auto, cpu, cuda"),
    ],
)
def test_an_unknown_choice_is_refused_with_the_choices(name, choices):
    with pytest.raises(ValueError, match=f"{name} is 'x'; choose one of {choices}"):
        TrainConfig(**{name: "x"})


def test_an_unknown_setting_is_named():
    with pytest.raises(ValueError, match="rotary is no setting of a run"):
        TrainConfig.from_json({"rotary": 0.1})


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("num_layers", "2", "int"),
        ("num_layers", 2.0, "int"),
        ("seed", True, "int"),
        ("name", 3, "str"),
        ("learning_rate", "fast", "float"),
        ("max_steps_per_second", "no", "float"),
        ("learning_rate", 10**400, "float"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(name, value, wanted):
    with pytest.raises(ValueError, match=f"{name} is .*; it must be of type {wanted}"):
        TrainConfig.from_json({name: value})


def test_heads_that_do_not_share_the_width_are_refused_before_a_text_is_known():
    with pytest.raises(ValueError, match="hidden_dim 64 cannot be shared by 7 heads"):
        TrainConfig(num_heads=7)


def test_a_run_of_before_gpus_were_named_takes_the_least_busy():
    data = TrainConfig().to_json()
    del data["gpu"]
    assert TrainConfig.from_json(data).gpu == ""


def test_a_run_of_before_bpe_has_the_tokenizer_it_had():
    data = TrainConfig(tokenizer="byte").to_json()
    del data["bpe_vocab_size"]
    assert TrainConfig.from_json(data).tokenizer == "byte"
