"""The KV cache against tensors: transformers' own cache, torch storages, quantized arrays."""

import numpy as np
import pytest
import torch

from core.budget.catalogue.models import MODELS
from core.budget.serving.kv_cache import (
    AS_MADE,
    MHA,
    MQA,
    kv_cache,
    kv_cache_bytes_per_token,
    kv_read,
    kv_reserved,
    kv_variants,
    with_kv_heads,
)
from core.budget.weights.stored import stored_format
from core.dtypes import BLOCK_FORMATS, FORMATS
from core.dtypes.blocks.block_formats import BlockFormat
from core.models.spec import LatentAttention, ModelSpec
from core.units import GIB
from tests.core.budget.refusals import refused

LATENT = LatentAttention(query_rank=0, kv_rank=48, nope_dim=16, rope_dim=8, value_dim=16)


def tiny(**changes):
    sizes = {
        "name": "tiny", "num_layers": 3, "hidden_dim": 32, "num_heads": 4, "num_kv_heads": 2,
        "head_dim": 8, "ffn_dim": 64, "vocab_size": 50, "seq_len": 64,
    }  # fmt: skip
    return ModelSpec(**{**sizes, **changes})


def cached_tensors(spec, context, concurrency, tensor):
    """The tensors that one of `tensor` devices allocates: one key and value a layer and head."""
    for layer in range(spec.num_layers):
        windowed = layer < spec.num_windowed_layers
        kept = min(context, spec.window) if windowed else context
        if spec.latent is not None:
            yield torch.zeros(concurrency, kept, spec.latent.kv_rank, dtype=torch.bfloat16)
            yield torch.zeros(concurrency, kept, spec.latent.rope_dim, dtype=torch.bfloat16)
            continue
        heads = max(1, spec.num_kv_heads // tensor)
        for _ in ("key", "value"):
            yield torch.zeros(concurrency, heads, kept, spec.head_dim, dtype=torch.bfloat16)


def test_bytes_are_those_of_the_tensors_for_every_kind_of_attention():
    rng = np.random.default_rng(0)

    def choose(options):
        return int(rng.choice(options))

    for number in range(60):
        num_heads, num_layers = choose([1, 2, 4, 8]), choose([1, 2, 3, 4, 5])
        num_windowed = choose([0, 0, num_layers, num_layers // 2])
        spec = tiny(
            num_layers=num_layers,
            num_heads=num_heads,
            num_kv_heads=choose([each for each in (1, 2, 4, 8) if num_heads % each == 0]),
            head_dim=choose([8, 16, 80]),
            window=choose([1, 7, 64]) if num_windowed else None,
            num_windowed_layers=num_windowed,
            latent=LATENT if number % 5 == 0 else None,
        )
        context, concurrency = choose(range(1, 41)), choose([1, 2, 3, 4])
        tensor = choose([each for each in (1, 2, 4, 8) if num_heads % each == 0])

        item = kv_cache(spec, context, concurrency, tensor=tensor)

        kept = cached_tensors(spec, context, concurrency, tensor)
        assert item.num_bytes == sum(each.untyped_storage().nbytes() for each in kept), spec


def test_bytes_of_a_quantized_cache_are_those_of_the_stored_arrays():
    spec = tiny(num_layers=3, head_dim=80, num_windowed_layers=1, window=5)
    full, windowed = (2, 2, 12, 2, 80), (1, 2, 5, 2, 80)  # layers, K and V, tokens, heads, head_dim
    for name, fmt in (FORMATS | BLOCK_FORMATS).items():
        item = kv_cache(spec, 12, 1, name)
        if not isinstance(fmt, BlockFormat):
            expected = sum(-(-_count(shape) * fmt.bits // 8) for shape in (full, windowed))
        elif fmt.block_size == "tensor" or fmt.double_quant:
            assert item.amount >= _count(full) * fmt.element.bits // 8, name
            continue
        else:
            stored = [fmt.quantize(np.zeros(shape)) for shape in (full, windowed)]
            scale_bits = fmt.scale.bits + (0 if fmt.symmetric else fmt.element.bits)
            bits = [_count(each.shape) * fmt.element.bits for each in stored]
            scales = [each.scales.size * scale_bits for each in stored]
            expected = sum(-(-sum(pair) // 8) for pair in zip(bits, scales, strict=True))
        assert item.num_bytes == expected, name


def _count(shape):
    return torch.Size(shape).numel()


def hugging_face_models():
    """Tiny models of transformers and what they are in our words."""
    transformers = pytest.importorskip("transformers")
    sizes = {
        "num_hidden_layers": 3, "hidden_size": 32, "intermediate_size": 64, "vocab_size": 50,
        "num_attention_heads": 4, "max_position_embeddings": 64,
    }  # fmt: skip
    yield transformers.LlamaConfig(**sizes, num_key_value_heads=4), tiny(num_kv_heads=4)
    yield transformers.LlamaConfig(**sizes, num_key_value_heads=1), tiny(num_kv_heads=1)
    config = transformers.Qwen3Config(**sizes, num_key_value_heads=2, head_dim=24)
    yield config, tiny(head_dim=24)


@pytest.mark.slow
def test_bytes_are_those_of_the_cache_that_transformers_fills():
    for config, spec in hugging_face_models():
        from transformers import AutoModelForCausalLM

        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
        with torch.no_grad():
            cache = model(torch.zeros(2, 11, dtype=torch.long), use_cache=True).past_key_values
        kept = sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)

        assert kv_cache(spec, 11, 2).num_bytes == kept, config.model_type


def test_one_more_token_costs_what_is_published():
    assert kv_cache_bytes_per_token(MODELS["llama-2-7b"]) == 524_288
    assert kv_cache_bytes_per_token(MODELS["llama-3-70b"]) == 320 * 1024
    assert kv_cache_bytes_per_token(MODELS["llama-3-70b"], bits=8) == 160 * 1024
    # DeepSeek-V3, 2024, section 2.1.1: 512 + 64 numbers a layer
    assert kv_cache_bytes_per_token(MODELS["deepseek-v3"]) == 61 * 576 * 2


def test_one_more_token_is_a_cache_of_one_token_in_every_model():
    for name, spec in MODELS.items():
        assert kv_cache(spec, 1).amount == kv_cache_bytes_per_token(spec), name


def test_an_indexer_adds_its_key_and_lets_only_the_picked_tokens_be_read():
    spec = MODELS["deepseek-v3.2"]
    for context in (1, 2048, 100_000):
        assert kv_cache(spec, context).amount == 2 * (512 + 64 + 128) * 61 * context
        picked = min(context, 2048)
        assert kv_read(spec, context) == 2 * 61 * ((512 + 64) * picked + 128 * context)
    scaled = kv_cache(spec, 1000, 1, "int8_group128")  # blocks of 128 along each vector
    assert scaled.amount == 61 * 1000 * ((512 + 64 + 128) + 2 * (4 + 1 + 1))
    llama = MODELS["llama-3.1-8b"]
    assert kv_read(llama, 777, 3) == kv_cache(llama, 777, 3).amount


def test_a_chunk_is_kept_whole_and_no_more():
    scout = MODELS["llama-4-scout"]
    each = 2 * 2 * 8 * 128
    for context, kept in ((100, 100), (8192, 8192), (1_000_000, 8192)):
        assert kv_cache(scout, context).amount == each * (12 * context + 36 * kept), context


def test_what_cannot_be_is_refused_in_a_sentence():
    spec = tiny()
    refused("context is 0; it must lie between 1 and 100,000,000", kv_cache, spec, 0)
    refused("concurrency is 0; it must lie between 1", kv_cache, spec, 1, 0)
    refused("tensor is 0; it must lie between 1", kv_cache, spec, 1, 1, tensor=0)
    refused("bits is 0; it must lie between 1 and 64", kv_cache_bytes_per_token, spec, bits=0)
    refused("kv_format is 'int9'; use one of: float64", stored_format, "kv_format", "int9")
    refused("num_kv_heads is 3, which does not divide num_heads 4", with_kv_heads, spec, 3)


def sizes(model, context=8192, kv_format="bfloat16"):
    rows = kv_variants(MODELS[model], context, kv_format)
    return {(row.name, row.kv_format): row.cache.amount for row in rows}


def test_grouped_heads_save_what_ainslie_et_al_say():
    found = sizes("llama-3-70b")
    assert found[MHA, "bfloat16"] == 8 * found[AS_MADE, "bfloat16"]
    assert found[AS_MADE, "bfloat16"] == 8 * found[MQA, "bfloat16"]
    assert found[AS_MADE, "bfloat16"] == 2.5 * 2**30


def test_latent_attention_is_shown_with_the_heads_that_it_does_without():
    rows = kv_variants(MODELS["deepseek-v3"], 1000, "bfloat16")
    found = {row.name: row for row in rows}

    assert list(found) == [MHA, AS_MADE, MQA]
    assert found[AS_MADE].num_kv_heads == 0
    # 128 heads of 2 x 128 numbers against 576: DeepSeek-V2 2024, table 1
    ratio = found[MHA].cache.amount / found[AS_MADE].cache.amount
    assert ratio == pytest.approx(2 * 128 * 128 / 576)
    latent = MODELS["deepseek-v3"]
    assert with_kv_heads(latent, 1) is latent


def test_an_engine_with_one_block_table_reserves_the_context_in_every_layer():
    """A log of vLLM for gpt-oss-120b: 5.38 GiB are 78,384 tokens, 73,728 bytes each."""
    spec, tokens = MODELS["gpt-oss-120b"], 78_384
    reserved, paper = kv_reserved(spec, tokens), kv_cache(spec, tokens)
    assert reserved.amount == 73_728 * tokens
    assert (round(reserved.amount / GIB, 2), round(paper.amount / GIB, 2)) == (5.38, 2.70)
    llama = MODELS["llama-3.1-8b"]
    assert kv_reserved(llama, 8192, 2).amount == kv_cache(llama, 8192, 2).amount
