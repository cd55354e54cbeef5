"""The catalogue: published configurations give its rows, and modules on meta its counts."""

import dataclasses
import json
from pathlib import Path

import pytest

from core.budget.catalogue.hf_config import model_from_config
from core.budget.catalogue.models import MODELS
from core.budget.weights.parameters import count_parameters, counts
from tests.core.budget.catalogue.test_hf_config import parameters_of

CONFIGS = json.loads(Path(__file__).with_name("published_configs.json").read_text(encoding="utf-8"))
# Printed by the makers: model cards of Mixtral and Qwen3; DeepSeek-V3's report counts 37 B.
ACTIVE = {
    "mixtral-8x7b": 12.9,
    "mixtral-8x22b": 39.1,
    "qwen3-30b-a3b": 3.3,
    "qwen3-235b-a22b": 22,
    "deepseek-v3": 37,
}


def test_there_are_34_models_each_with_a_source_and_a_published_count():
    assert len(MODELS) == 34
    for key, spec in MODELS.items():
        assert spec.source, key
        assert spec.published > 0, key
    assert len({spec.name for spec in MODELS.values()}) == len(MODELS)


def test_every_row_has_as_many_parameters_as_published():
    for key, spec in MODELS.items():
        assert counts(spec).total == spec.published, key
        assert count_parameters(spec).amount == spec.published, key


def test_the_published_configuration_of_a_model_gives_its_row():
    assert set(CONFIGS) == set(MODELS)
    for key, config in CONFIGS.items():
        read, row = model_from_config(config), MODELS[key]
        same = dataclasses.replace(read, name=row.name, source=row.source, published=row.published)
        assert same == row, key


def test_the_active_parameters_with_the_tables_are_those_that_the_makers_print():
    for key, billions in ACTIVE.items():
        assert counts(MODELS[key]).active / 1e9 == pytest.approx(billions, rel=0.02), key
    for key, spec in MODELS.items():
        assert (counts(spec).active < counts(spec).total) == (spec.mixture is not None), key


@pytest.mark.slow
def test_every_row_has_as_many_parameters_as_the_module_of_transformers_on_meta():
    for key, config in CONFIGS.items():
        sizes = {name: value for name, value in config.items() if name != "model_type"}
        assert counts(MODELS[key]).total == parameters_of(config["model_type"], sizes), key
