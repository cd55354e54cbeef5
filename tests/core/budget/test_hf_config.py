"""Any config.json: every family against the module that transformers builds of it on meta."""

import dataclasses
import json

import pytest

from core.budget.hf_config import KNOWN, MAX_CHARS, UNKNOWN, model_from_config, read_config
from core.budget.hf_families import FAMILIES
from core.budget.parameters import counts

LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "num_hidden_layers": 3,
    "hidden_size": 96,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "intermediate_size": 200,
    "vocab_size": 1000,
    "max_position_embeddings": 512,
    "tie_word_embeddings": False,
}
MIXTURE = {"num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 40}
LATENT = {
    "kv_lora_rank": 24,
    "qk_nope_head_dim": 10,
    "qk_rope_head_dim": 6,
    "v_head_dim": 12,
    "n_routed_experts": 6,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 40,
    "n_shared_experts": 2,
    "first_k_dense_replace": 1,
    "n_group": 2,
    "topk_group": 1,
}
GPT2 = {
    "n_layer": 3,
    "n_embd": 96,
    "n_head": 6,
    "vocab_size": 1000,
    "n_positions": 64,
    "architectures": ["GPT2LMHeadModel"],
}
CASES = {
    "gpt2": [GPT2, GPT2 | {"n_inner": 100, "tie_word_embeddings": False}],
    "gpt_neox": [LLAMA, LLAMA | {"attention_bias": False}],
    "starcoder2": [LLAMA, LLAMA | {"use_bias": False, "tie_word_embeddings": True}],
    "llama": [
        LLAMA,
        LLAMA | {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True},
        LLAMA | {"head_dim": 32},
    ],
    "smollm3": [LLAMA],
    "granite": [LLAMA],
    "mistral": [LLAMA | {"sliding_window": 32}, LLAMA | {"head_dim": 8, "sliding_window": None}],
    "mixtral": [LLAMA | {"num_local_experts": 4, "num_experts_per_tok": 2}],
    "qwen2": [LLAMA, LLAMA | {"use_sliding_window": True, "sliding_window": 9}],
    "qwen3": [LLAMA | {"head_dim": 24}, LLAMA | {"attention_bias": True, "head_dim": 16}],
    "qwen3_moe": [
        LLAMA | MIXTURE | {"head_dim": 16},
        LLAMA | MIXTURE | {"head_dim": 16, "mlp_only_layers": [0, 2]},
        LLAMA | MIXTURE | {"head_dim": 16, "decoder_sparse_step": 2},
    ],
    "phi3": [LLAMA | {"pad_token_id": 0}],
    "gemma": [LLAMA | {"head_dim": 32, "tie_word_embeddings": True}],
    "gemma2": [LLAMA | {"head_dim": 32, "tie_word_embeddings": True, "sliding_window": 16}],
    "gemma3_text": [LLAMA | {"head_dim": 32, "tie_word_embeddings": True}],
    "deepseek_v3": [LLAMA | LATENT | {"q_lora_rank": 20}, LLAMA | LATENT | {"q_lora_rank": None}],
}


def parameters_of(kind, config):
    """Return what transformers' own module has, built without memory and without a network."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    with torch.device("meta"):
        built = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **config))
    return sum(weight.numel() for weight in built.parameters())


@pytest.mark.slow
def test_every_family_has_as_many_parameters_as_the_module_of_transformers():
    assert set(CASES) == set(FAMILIES)
    for kind, configs in CASES.items():
        for config in configs:
            without_kind = {key: each for key, each in config.items() if key != "model_type"}
            spec = model_from_config(config | {"model_type": kind})
            assert counts(spec).total == parameters_of(kind, without_kind), (kind, config)
