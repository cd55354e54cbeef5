"""GGUF: bits of the blocks, and whole files against their published sizes."""

import dataclasses

import pytest

from core.budget.catalogue.models import MODELS
from core.budget.weights.gguf import (
    GGUF_BLOCKS,
    GGUF_RECIPES,
    gguf_files,
    gguf_weights,
)
from tests.core.budget.refusals import refused

BITS = {"Q8_0": 8.5, "Q6_K": 6.5625, "Q5_K": 5.5, "Q4_K": 4.5, "Q4_0": 4.5, "IQ4_XS": 4.25}


def test_bits_of_a_weight_are_those_of_the_block():
    assert {kind: GGUF_BLOCKS[kind].bits_per_value for kind in BITS} == BITS


@pytest.mark.slow
def test_blocks_are_those_of_transformers():
    """Its table of (values, bytes), by ggml's number of a type."""
    dequant = pytest.importorskip("transformers.integrations.gguf.dequant")
    numbers = {"Q8_0": 8, "Q4_0": 2, "Q4_K": 12, "Q5_K": 13, "Q6_K": 14, "IQ4_XS": 23}
    for kind, number in numbers.items():
        assert dequant.GGML_BLOCK[number] == tuple(GGUF_BLOCKS[kind]), kind


@pytest.mark.parametrize(
    ("model", "recipe", "published"),
    [
        ("llama-2-7b", "Q4_K_M", 4_081_004_224),
        ("llama-2-7b", "Q5_K_M", 4_783_156_928),
        ("llama-2-7b", "Q6_K", 5_529_194_176),
        ("llama-2-7b", "Q8_0", 7_161_089_728),
        ("llama-2-7b", "Q4_0", 3_825_807_040),
        ("mistral-7b-v0.1", "Q4_K_M", 4_368_439_584),
        ("mistral-7b-v0.1", "Q5_K_M", 5_131_409_088),
        ("llama-3.1-8b", "Q4_K_M", 4_920_739_232),
        ("llama-3.1-8b", "Q5_K_M", 5_732_992_416),
        ("llama-3.1-8b", "Q8_0", 8_540_775_840),
        ("llama-3.1-8b", "IQ4_XS", 4_447_667_616),
        ("llama-3.2-3b", "Q4_K_M", 2_019_377_696),
        ("llama-3.2-3b", "Q8_0", 3_421_899_296),
        ("qwen2.5-7b", "Q4_K_M", 4_683_073_536),
        ("qwen2.5-14b", "Q4_K_M", 8_988_109_984),
        ("qwen2.5-14b", "Q6_K", 12_124_683_424),
        ("mistral-small-3-24b", "Q4_K_M", 14_333_922_848),
        ("mistral-small-3-24b", "Q6_K", 19_345_952_288),
        ("gemma-3-27b", "Q4_K_M", 16_546_404_992),
        ("gemma-3-27b", "Q6_K", 22_166_690_432),
    ],
)
def test_a_file_is_as_large_as_published_but_for_its_vocabulary(model, recipe, published):
    """TheBloke's, bartowski's, unsloth's and Qwen's files: all of a model have the same bytes more.

    Those since 2025 are kept in a table of downloads, "llamacpp-hrx2-basket-v1" (read 2026-11).
    """
    more = published - gguf_weights(MODELS[model], recipe).amount
    assert 0 < more < 0.004 * published
    vocabulary = {
        "llama-2-7b": 741_056,
        "llama-3.1-8b": 7_841_184,
        "llama-3.2-3b": 7_838_240,
        "qwen2.5-14b": 5_967_008,
        "mistral-small-3-24b": 7_896_608,
        "gemma-3-27b": 6_279_168,
    }
    assert more == vocabulary.get(model, more)


def test_values_that_four_heads_share_have_five_bits_in_iq4_xs():
    """ikawrakow/ik_llama.cpp: "llama 70B IQ4_XS - 4.25 bpw | 34.30 GiB"."""
    large = gguf_weights(MODELS["llama-2-70b"], "IQ4_XS")
    assert round(large.amount / 2**30, 2) == 34.30
    assert large.child("values that several heads share").amount == 80 * 8192 * 1024 * 176 // 256
    small = [part.name for part in gguf_weights(MODELS["llama-2-7b"], "IQ4_XS").children]
    assert "values that several heads share" not in small


def test_what_the_recipes_do_not_cover_is_refused():
    refused("recipe is 'Q3'; use one of: Q8_0", gguf_weights, MODELS["llama-2-7b"], "Q3")
    refused("has experts or latent attention", gguf_weights, MODELS["mixtral-8x7b"], "Q8_0")
    assert set(GGUF_RECIPES) == {"Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q4_0", "IQ4_XS"}
    refused("GPT-2 is not built like Llama", gguf_weights, MODELS["gpt2"], "Q8_0")
    refused("no multiple of 256", gguf_weights, MODELS["qwen2.5-0.5b"], "Q4_K_M")


def test_rows_of_896_numbers_are_whole_blocks_of_32():
    spec = MODELS["qwen2.5-0.5b"]
    assert list(gguf_files(spec)[0]) == ["Q8_0"]
    matrices = 24 * (2 * 896 * (896 + 128) + 3 * 896 * 4864) + 151_936 * 896
    rest = 4 * (24 * (2 * 896 + 896 + 2 * 128) + 896)
    assert gguf_weights(spec, "Q8_0").amount == matrices * 34 // 32 + rest


def test_files_of_a_model_come_with_the_reasons_of_those_that_are_missing():
    items, refusals = gguf_files(MODELS["phi-4"])
    assert list(items) == ["Q8_0", "Q6_K", "Q4_0"]
    assert refusals == (
        "Q5_K_M of Phi-4 is not worked out: its file joins matrices into one.",
        "Q4_K_M of Phi-4 is not worked out: its file joins matrices into one.",
        "IQ4_XS of Phi-4 is not worked out: its file joins matrices into one.",
    )
    assert gguf_files(MODELS["mixtral-8x7b"])[0] == {}
    assert len(gguf_files(MODELS["mixtral-8x7b"])[1]) == 1
    assert list(gguf_files(MODELS["llama-2-7b"])[0]) == list(GGUF_RECIPES)


def test_the_values_of_80_layers_have_five_bits_in_q4_k_m():
    """40 layers of 8192 x 1024 values at 5.5 bits instead of 4.5."""
    spec = MODELS["llama-2-70b"]
    shared = gguf_weights(spec, "Q4_K_M").child("values that several heads share")
    assert shared.amount == 40 * 8192 * 1024 * 176 // 256
    names = [part.name for part in gguf_weights(spec, "Q5_K_M").children]
    assert "values that several heads share" not in names
    # llama.cpp, src/models/llama.cpp: 80 layers are the 65B where n_head == n_head_kv
    alone = dataclasses.replace(spec, num_kv_heads=spec.num_heads)
    parts = [part.name for part in gguf_weights(alone, "Q4_K_M").children]
    assert "values that several heads share" not in parts
    names = [part.name for part in gguf_weights(spec, "Q8_0").children]
    assert names == ["matrices of the layers", "token embedding", "norms and biases", "head"]
