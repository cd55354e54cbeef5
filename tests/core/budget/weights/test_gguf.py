"""GGUF: bits of the blocks, and whole files against their published sizes."""

import pytest

from core.budget.catalogue.models import MODELS
from core.budget.weights.gguf import GGUF_BLOCKS, GGUF_RECIPES, gguf_weights
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
    ],
)
def test_a_file_is_as_large_as_published_but_for_its_vocabulary(model, recipe, published):
    """TheBloke's Llama-2-7B-GGUF and others; five files of Llama-2 have the same 741,056 more."""
    more = published - gguf_weights(MODELS[model], recipe).amount
    assert 0 < more < 0.002 * published
    if model == "llama-2-7b":
        assert more == 741_056


def test_what_the_recipes_do_not_cover_is_refused():
    refused("recipe is 'Q3'; use one of: Q8_0", gguf_weights, MODELS["llama-2-7b"], "Q3")
    refused("has experts or latent attention", gguf_weights, MODELS["mixtral-8x7b"], "Q8_0")
    assert set(GGUF_RECIPES) == {"Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q4_0"}
