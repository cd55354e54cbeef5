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
# Totals of the files on Hugging Face: safetensors.total of its API, autumn of 2026.
FILES = {
    "gemma-3-4b": 4_300_079_472,
    "gemma-3-12b": 12_187_325_040,
    "gemma-3-27b": 27_432_406_640,
    "llama-4-scout": 108_641_793_536,
    "llama-4-maverick": 401_583_781_376,
    "gpt-oss-20b": 20_914_757_184,
    "gpt-oss-120b": 116_829_156_672,
    "kimi-k2": 1_026_408_235_864,
    "qwen3-0.6b": 751_632_384,
    "qwen3-1.7b": 2_031_739_904,
    "qwen3-4b": 4_022_468_096,
    "qwen3-14b": 14_768_307_200,
    "glm-4.5": 358_337_791_296,
    "glm-4.5-air": 110_468_824_832,
    "deepseek-v3.2": 685_355_329_792,
    "mistral-small-3-24b": 23_572_403_200,
    "olmo-2-7b": 7_298_617_344,
    "olmo-2-13b": 13_716_198_400,
    "olmo-2-32b": 32_234_279_936,  # two independent counts; the API had none
    "smollm3-3b": 3_075_098_624,
}
# Numbers of one token in one layer, and layers: keys and values of the key heads, or the latent
# vector, its rotary key and the indexer's; twice as many bytes in 16 bits.
CACHED = {
    "gemma-3-4b": (2 * 4 * 256, 34),
    "gemma-3-12b": (2 * 8 * 256, 48),
    "gemma-3-27b": (2 * 16 * 128, 62),
    "llama-4-scout": (2 * 8 * 128, 48),
    "llama-4-maverick": (2 * 8 * 128, 48),
    "gpt-oss-20b": (2 * 8 * 64, 24),
    "gpt-oss-120b": (2 * 8 * 64, 36),
    "kimi-k2": (512 + 64, 61),
    "qwen3-0.6b": (2 * 8 * 128, 28),
    "qwen3-1.7b": (2 * 8 * 128, 28),
    "qwen3-4b": (2 * 8 * 128, 36),
    "qwen3-14b": (2 * 8 * 128, 40),
    "glm-4.5": (2 * 8 * 128, 92),
    "glm-4.5-air": (2 * 8 * 128, 46),
    "deepseek-v3.2": (512 + 64 + 128, 61),
    "mistral-small-3-24b": (2 * 8 * 128, 40),
    "olmo-2-7b": (2 * 32 * 128, 32),
    "olmo-2-13b": (2 * 40 * 128, 40),
    "olmo-2-32b": (2 * 8 * 128, 64),
    "smollm3-3b": (2 * 4 * 128, 36),
}
# Layers that see the whole context, layers that keep no more than a window or chunk, and its size.
WINDOWS = {
    "gemma-3-4b": (5, 29, 1024),
    "gemma-3-12b": (8, 40, 1024),
    "gemma-3-27b": (10, 52, 1024),
    "llama-4-scout": (12, 36, 8192),
    "llama-4-maverick": (12, 36, 8192),
    "gpt-oss-20b": (12, 12, 128),
    "gpt-oss-120b": (18, 18, 128),
}


def test_there_are_54_models_each_with_a_source_a_maker_and_a_published_count():
    assert len(MODELS) == 54
    for key, spec in MODELS.items():
        assert spec.source, key
        assert spec.maker, key
        assert spec.published > 0, key
    assert len({spec.name for spec in MODELS.values()}) == len(MODELS)


def test_the_models_of_a_maker_stand_together():
    makers = [maker for maker, _rows in itertools.groupby(MODELS.values(), lambda row: row.maker)]
    assert len(makers) == len(set(makers)) == 11


def test_every_row_and_what_is_beyond_it_has_as_many_parameters_as_published():
    for key, spec in MODELS.items():
        beyond = sum(part.num_params for part in spec.beyond)
        assert counts(spec).total + beyond == spec.published, key
        assert count_parameters(spec).amount + beyond == spec.published, key
        assert spec.published == FILES.get(key, spec.published), key
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
    for key, (numbers, layers) in CACHED.items():
        assert kv_cache_bytes_per_token(MODELS[key]) == 2 * numbers * layers, key
    for key, (full, windowed, window) in WINDOWS.items():
        numbers, layers = CACHED[key]
        assert full + windowed == layers
        long = 100_000
        assert kv_cache(MODELS[key], long).amount == 2 * numbers * (full * long + windowed * window)


@pytest.mark.slow
def test_every_row_has_as_many_parameters_as_the_module_of_transformers_on_meta():
    for key, config in CONFIGS.items():
        kind = SAME_AS.get(config["model_type"], config["model_type"])
        sizes = {name: value for name, value in config.items() if name != "model_type"}
        assert counts(MODELS[key]).total == parameters_of(kind, sizes), key
