"""The catalogue: published configurations give its rows, and modules on meta its counts."""

import dataclasses
import itertools
import json
from pathlib import Path

import pytest

from core.budget.catalogue.hf_config import model_from_config
from core.budget.catalogue.hf_families import SAME_AS
from core.budget.catalogue.models import MODELS
from core.budget.serving.kv_cache import kv_cache, kv_cache_bytes_per_token
from core.budget.weights.parameters import active_parameters, count_parameters, counts
from core.budget.weights.sizes import REASONS
from tests.core.budget.catalogue.test_hf_config import parameters_of

CONFIGS = json.loads(Path(__file__).with_name("published_configs.json").read_text(encoding="utf-8"))
# Billions printed by the makers. With the tables: model cards of Mixtral, Qwen3 and Llama 4, and
# DeepSeek-V3's report. With the head alone: arXiv 2508.10925, table 1, and Kimi K2's card, which
# names no convention (31.7 is nearer to its 32 than the 32.9 with the tables). With neither:
# arXiv 2508.06471, table 1, which cuts the rest off.
WITH_TABLES = {
    "mixtral-8x7b": 12.9,
    "mixtral-8x22b": 39.1,
    "qwen3-30b-a3b": 3.3,
    "qwen3-235b-a22b": 22,
    "deepseek-v3": 37,
    "llama-4-scout": 17,
    "llama-4-maverick": 17,
}
WITH_THE_HEAD = {"gpt-oss-20b": 3.61, "gpt-oss-120b": 5.13, "kimi-k2": 32}
WITHOUT_TABLES = {"glm-4.5": 32, "glm-4.5-air": 12}
# Numbers of one token in one layer, layers that see the whole context, layers that keep no more
# than a window or chunk, and its size. The numbers: keys and values of the key heads, or the latent
# vector, its rotary key and the indexer's; twice as many bytes in 16 bits.
CACHED = {
    "gemma-3-4b": (2 * 4 * 256, 5, 29, 1024),
    "gemma-3-12b": (2 * 8 * 256, 8, 40, 1024),
    "gemma-3-27b": (2 * 16 * 128, 10, 52, 1024),
    "llama-4-scout": (2 * 8 * 128, 12, 36, 8192),
    "llama-4-maverick": (2 * 8 * 128, 12, 36, 8192),
    "gpt-oss-20b": (2 * 8 * 64, 12, 12, 128),
    "gpt-oss-120b": (2 * 8 * 64, 18, 18, 128),
    "kimi-k2": (512 + 64, 61, 0, 0),
    "qwen3-0.6b": (2 * 8 * 128, 28, 0, 0),
    "qwen3-1.7b": (2 * 8 * 128, 28, 0, 0),
    "qwen3-4b": (2 * 8 * 128, 36, 0, 0),
    "qwen3-14b": (2 * 8 * 128, 40, 0, 0),
    "glm-4.5": (2 * 8 * 128, 92, 0, 0),
    "glm-4.5-air": (2 * 8 * 128, 46, 0, 0),
    "deepseek-v3.2": (512 + 64 + 128, 61, 0, 0),
    "mistral-small-3-24b": (2 * 8 * 128, 40, 0, 0),
    "olmo-2-7b": (2 * 32 * 128, 32, 0, 0),
    "olmo-2-13b": (2 * 40 * 128, 40, 0, 0),
    "olmo-2-32b": (2 * 8 * 128, 64, 0, 0),
    "smollm3-3b": (2 * 4 * 128, 36, 0, 0),
}


def test_every_model_has_a_source_a_maker_and_a_published_count():
    for key, spec in MODELS.items():
        assert spec.source, key
        assert spec.maker, key
        assert spec.published > 0, key
    assert len({spec.name for spec in MODELS.values()}) == len(MODELS)


def test_the_models_of_a_maker_stand_together():
    makers = [maker for maker, _rows in itertools.groupby(MODELS.values(), lambda row: row.maker)]
    assert len(makers) == len(set(makers))


def test_every_row_and_what_is_beyond_it_has_as_many_parameters_as_published():
    for key, spec in MODELS.items():
        beyond = sum(part.num_params for part in spec.beyond)
        assert counts(spec).total + beyond == spec.published, key
        assert count_parameters(spec).amount + beyond == spec.published, key
        assert {part.reason for part in spec.beyond} <= set(REASONS), key


def test_what_is_beyond_a_row_is_counted_from_its_sizes():
    """The parts of a file that are no part of the text model, each by hand."""
    beyond = {key: {p.reason: p.num_params for p in s.beyond} for key, s in MODELS.items()}
    siglip = 416_866_032
    for key, hidden in (("gemma-3-4b", 2560), ("gemma-3-12b", 3840), ("gemma-3-27b", 5376)):
        assert beyond[key] == {"vision": siglip + hidden * 1152 + 1152}, key
    for key, hidden in (("qwen3-0.6b", 1024), ("qwen3-1.7b", 2048)):
        assert beyond[key] == {"tied_head": 151_936 * hidden}, key
    for key in ("glm-4.5", "glm-4.5-air", "deepseek-v3.2"):
        spec, layers = MODELS[key], MODELS[key].num_expert_layers
        experts = spec.mixture.num_experts
        assert beyond[key]["router_bias"] == layers * experts, key
        one = dataclasses.replace(spec, num_layers=spec.num_layers + 1)
        block = counts(one).total - counts(spec).total
        width, rows = spec.hidden_dim, spec.vocab_size
        copies = 2 * width**2 + 3 * width + 2 * rows * width + experts
        assert beyond[key]["prediction"] == block + copies, key
    assert beyond["kimi-k2"] == {"router_bias": 60 * 384, "unexplained": 3416}


def test_the_published_configuration_of_a_model_gives_its_row():
    assert set(CONFIGS) == set(MODELS)
    for key, config in CONFIGS.items():
        read, row = model_from_config(config), MODELS[key]
        said = {
            each: getattr(row, each) for each in ("name", "source", "published", "beyond", "maker")
        }
        assert not read.guessed, key
        assert dataclasses.replace(read, **said) == row, key


def test_the_active_parameters_are_those_that_the_makers_print_by_their_conventions():
    for key, billions in WITH_TABLES.items():
        assert counts(MODELS[key]).active / 1e9 == pytest.approx(billions, rel=0.02), key
    for key, billions in WITH_THE_HEAD.items():
        assert active_parameters(MODELS[key]).amount / 1e9 == pytest.approx(billions, rel=0.01), key
    for key, billions in WITHOUT_TABLES.items():
        found = counts(MODELS[key])
        assert int((found.active - found.token_embedding - found.head) / 1e9) == billions, key
    for key, spec in MODELS.items():
        assert (counts(spec).active < counts(spec).total) == (spec.mixture is not None), key


def test_a_token_takes_as_many_bytes_of_the_cache_as_its_numbers_in_16_bits():
    long = 100_000
    for key, (numbers, full, windowed, window) in CACHED.items():
        assert kv_cache_bytes_per_token(MODELS[key]) == 2 * numbers * (full + windowed), key
        kept = full * long + windowed * window
        assert kv_cache(MODELS[key], long).amount == 2 * numbers * kept, key


@pytest.mark.slow
def test_every_row_has_as_many_parameters_as_the_module_of_transformers_on_meta():
    for key, config in CONFIGS.items():
        kind = SAME_AS.get(config["model_type"], config["model_type"])
        sizes = {name: value for name, value in config.items() if name != "model_type"}
        assert counts(MODELS[key]).total == parameters_of(kind, sizes), key
