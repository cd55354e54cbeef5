"""Any config.json: every family against the module that transformers builds of it on meta."""

import json
import math

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.hf_config import (
    KNOWN,
    MAX_CHARS,
    UNKNOWN,
    compact_config,
    model_from_config,
    read_config,
)
from core.budget.catalogue.hf_families import FAMILIES, OTHER_NAMES
from core.budget.cluster import Cluster
from core.budget.compute.step_flops import step_flops
from core.budget.recipe import TrainingRecipe
from core.budget.serving.kv_cache import kv_cache
from core.budget.serving.memory import inference_budget
from core.budget.serving.plan import ServingPlan
from core.budget.share import whole
from core.budget.training.memory import training_budget
from core.budget.weights.config_notes import config_notes
from core.budget.weights.parameters import (
    active_parameters,
    count_parameters,
    counts,
    rows_and_columns,
)
from core.budget.weights.stored import size_of, weights_in
from tests.core.budget.refusals import refused

CLUSTER = Cluster(device=DEVICES["h100-sxm"])
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
STORED = {"quantization_config": {"quant_method": "gptq", "bits": 4, "dataset": "c4" * 4000}}
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
INDEXER = {"index_n_heads": 4, "index_head_dim": 16, "index_topk": 8}
EXPERTS = {
    key: value
    for key, value in LATENT.items()
    if key not in {"kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"}
}
LLAMA_4 = {
    "num_local_experts": 4,
    "num_experts_per_tok": 1,
    "intermediate_size_mlp": 300,
    "attention_chunk_size": 8,
    "interleave_moe_layer_step": 1,
}
DELTA = {
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 6,
    "linear_conv_kernel_dim": 3,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 10,
    "head_dim": 16,
    "layer_types": ["linear_attention", "full_attention", "linear_attention"],
}
MAMBA = {
    "mamba_num_heads": 4,
    "mamba_head_dim": 12,
    "ssm_state_size": 8,
    "n_groups": 2,
    "conv_kernel": 3,
    "head_dim": 16,
}
LAYERS_OF_ONE_PART = {
    "hybrid_override_pattern": "ME*",
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 40,
    "moe_shared_expert_intermediate_size": 80,
}
MAMBA_GRANITE = {
    "mamba_n_heads": 4,
    "mamba_d_state": 8,
    "mamba_n_groups": 2,
    "mamba_d_conv": 3,
    "num_experts_per_tok": 2,
    "layer_types": ["mamba", "attention", "mamba"],
}
MAMBA_FALCON = {
    "mamba_n_heads": 4,
    "mamba_d_head": 10,
    "mamba_d_ssm": 40,
    "mamba_d_state": 8,
    "mamba_n_groups": 2,
    "mamba_d_conv": 3,
    "head_dim": 16,
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
    "smollm3": [LLAMA | {"pad_token_id": 0}],
    "granite": [LLAMA],
    "mistral": [LLAMA | {"sliding_window": 32}, LLAMA | {"head_dim": 8, "sliding_window": None}],
    "mixtral": [LLAMA | {"num_local_experts": 4, "num_experts_per_tok": 2}, LLAMA],
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
    "deepseek_v2": [LLAMA | LATENT | {"q_lora_rank": 20, "moe_layer_freq": 1}],
    "ministral": [LLAMA | {"head_dim": 16}],
    "ernie4_5": [LLAMA | {"head_dim": 16}, LLAMA | {"head_dim": 16, "use_bias": True}],
    "helium": [LLAMA | {"head_dim": 16}, LLAMA | {"head_dim": 16, "attention_bias": True}],
    "granitemoe": [LLAMA | {"num_local_experts": 4, "num_experts_per_tok": 2}],
    "seed_oss": [
        LLAMA | {"head_dim": 16},
        LLAMA | {"head_dim": 16, "attention_bias": False, "mlp_bias": True},
    ],
    "glm": [LLAMA | {"head_dim": 16, "pad_token_id": 0}],
    "glm4": [LLAMA | {"head_dim": 16, "pad_token_id": 0}],
    "hunyuan_v1_dense": [LLAMA | {"head_dim": 16}],
    "exaone4": [LLAMA],
    "arcee": [LLAMA, LLAMA | {"mlp_bias": True}],
    "nemotron": [LLAMA, LLAMA | {"mlp_bias": True, "attention_bias": True}],
    "cohere": [
        LLAMA | {"tie_word_embeddings": True},
        LLAMA | {"tie_word_embeddings": True, "use_qk_norm": True},
    ],
    "cohere2": [LLAMA | {"tie_word_embeddings": True}],
    "stablelm": [LLAMA, LLAMA | {"use_qkv_bias": True}],
    "deepseek_v32": [LLAMA | LATENT | INDEXER | {"q_lora_rank": 20}],
    "gpt_oss": [
        LLAMA | {"head_dim": 16, "num_local_experts": 4, "num_experts_per_tok": 2},
        LLAMA | {"num_local_experts": 4, "num_experts_per_tok": 2, "attention_bias": False},
    ],
    "llama4_text": [
        LLAMA | LLAMA_4,
        LLAMA | LLAMA_4 | {"num_hidden_layers": 6, "interleave_moe_layer_step": 2},
        LLAMA | LLAMA_4 | {"moe_layers": [2]},
    ],
    "glm4_moe": [
        LLAMA | EXPERTS | {"attention_bias": True},
        LLAMA | EXPERTS | {"use_qk_norm": True, "head_dim": 24},
    ],
    "olmo2": [LLAMA, LLAMA | {"attention_bias": True}],
    "deepseek_v3": [LLAMA | LATENT | {"q_lora_rank": 20}, LLAMA | LATENT | {"q_lora_rank": None}],
    "apertus": [LLAMA],
    "ernie4_5_moe": [LLAMA | {"moe_num_experts": 4, "moe_k": 2, "moe_intermediate_size": 40}],
    "qwen2_moe": [
        LLAMA | MIXTURE | {"shared_expert_intermediate_size": 120},
        LLAMA | MIXTURE | {"shared_expert_intermediate_size": 80, "qkv_bias": False},
    ],
    "olmoe": [LLAMA | {"num_experts": 4, "num_experts_per_tok": 2}],
    "qwen3_next": [
        LLAMA | MIXTURE | DELTA | {"shared_expert_intermediate_size": 80},
        LLAMA | MIXTURE | DELTA | {"shared_expert_intermediate_size": 40, "mlp_only_layers": [0]},
    ],
    "qwen3_5_text": [LLAMA | DELTA, LLAMA | DELTA | {"full_attention_interval": 2}],
    "qwen3_5_moe_text": [LLAMA | MIXTURE | DELTA | {"shared_expert_intermediate_size": 40}],
    "nemotron_h": [
        LLAMA | MAMBA | {"hybrid_override_pattern": "M*-"},
        LLAMA | MAMBA | {"layers_block_type": ["linear_attention", "full_attention", "mlp"]}
        | {"use_bias": True, "use_conv_bias": False},
        LLAMA | MAMBA | LAYERS_OF_ONE_PART,
    ],
    "granitemoehybrid": [
        LLAMA | MAMBA_GRANITE | {"num_local_experts": 4, "shared_intermediate_size": 400},
        LLAMA | MAMBA_GRANITE | {"num_local_experts": 0, "shared_intermediate_size": 40},
    ],
    "falcon_h1": [
        LLAMA | MAMBA_FALCON,
        LLAMA | MAMBA_FALCON | {"mamba_rms_norm": True, "head_dim": 32},
    ],
    "lfm2": [
        LLAMA | {"layer_types": ["conv", "full_attention", "conv"], "block_ff_dim": 300}
        | {"block_auto_adjust_ff_dim": adjusted, "conv_bias": adjusted, "block_multiple_of": 32}
        for adjusted in (True, False)
    ],
    "lfm2_moe": [
        LLAMA | MIXTURE | {"num_dense_layers": 1, "pad_token_id": 0}
        | {"layer_types": ["conv", "full_attention", "conv"], "use_expert_bias": True},
    ],
    "gemma3n_text": [
        LLAMA | {"head_dim": 32, "laurel_rank": 8, "altup_num_inputs": 3, "sliding_window": 16}
        | {"hidden_size_per_layer_input": 10, "vocab_size_per_layer_input": 900}
        | {"num_kv_shared_layers": 0, "tie_word_embeddings": True},
    ],
    "kimi_linear": [
        LLAMA | LATENT | MIXTURE | {"head_dim": 6, "pad_token_id": 0, "linear_attn_config": {
            "full_attn_layers": [2], "kda_layers": [1, 3],
            "head_dim": 8, "num_heads": 4, "short_conv_kernel_size": 3,
        }},
    ],
    "minicpm3": [
        LLAMA | {"q_lora_rank": 20, "kv_lora_rank": 24}
        | {"qk_nope_head_dim": 10, "qk_rope_head_dim": 6, "tie_word_embeddings": True},
    ],
}  # fmt: skip


def shapes_of(kind, config):
    """Return the weights of transformers' own module, built without memory and network."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    with torch.device("meta"):
        built = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **config))
    return [weight.shape for weight in built.parameters()]


def parameters_of(kind, config):
    return sum(map(math.prod, shapes_of(kind, config)))


def check_against_transformers(kind, config):
    sizes = {key: each for key, each in config.items() if key != "model_type"}
    spec = model_from_config(config | {"model_type": kind})
    shapes = shapes_of(kind, sizes)
    assert counts(spec).total == sum(map(math.prod, shapes)), (kind, config)
    is_joined = spec.mixture or kind == "granitemoehybrid"  # gate and up are one matrix there
    if not is_joined and (spec.recurrent or spec.layer_inputs):
        rows = [math.prod(shape) // (shape[-1] * shape[-2]) * sum(shape[-2:]) if len(shape) > 1
                else shape[0] for shape in shapes]  # fmt: skip
        assert rows_and_columns(spec, whole(spec), counts(spec)) == sum(rows), (kind, config)


@pytest.mark.slow
def test_every_family_has_as_many_parameters_as_the_module_of_transformers():
    assert set(CASES) == set(FAMILIES)
    for kind, configs in CASES.items():
        for config in configs:
            check_against_transformers(kind, config)
        silent = {key: each for key, each in configs[0].items() if key != "tie_word_embeddings"}
        check_against_transformers(kind, silent)  # is the head tied when the file does not say?


def test_windows_are_on_the_layers_that_the_family_or_the_file_says():
    expected = {
        "mistral": (LLAMA | {"sliding_window": 32}, (32, 3)),
        "gemma2": (CASES["gemma2"][0], (16, 2)),
        "gemma3_text": (LLAMA | {"num_hidden_layers": 12, "sliding_window": 8}, (8, 10)),
        "qwen2": (
            LLAMA | {"use_sliding_window": True, "sliding_window": 9, "max_window_layers": 1},
            (9, 2),
        ),
        "llama": (LLAMA | {"sliding_window": 9}, (None, 0)),
        "gpt_oss": (CASES["gpt_oss"][0], (128, 2)),
        "llama4_text": (LLAMA | LLAMA_4 | {"num_hidden_layers": 8}, (8, 6)),
    }
    for kind, (config, window) in expected.items():
        spec = model_from_config(config | {"model_type": kind})
        assert (spec.window, spec.num_windowed_layers) == window, kind
    kinds = ["full_attention", "sliding_attention", "sliding_attention"]
    listed = model_from_config(LLAMA | {"sliding_window": 9, "layer_types": kinds})
    assert (listed.window, listed.num_windowed_layers) == (9, 2)


def test_chunks_are_on_the_layers_with_rotary_positions():
    llama = LLAMA | LLAMA_4 | {"model_type": "llama4_text", "num_hidden_layers": 8}
    for said, chunked in (
        ({}, 6),
        ({"no_rope_layer_interval": 2}, 4),
        ({"no_rope_layers": [1, 1, 1, 1, 1, 1, 1, 0]}, 7),
        ({"layer_types": ["chunked_attention"] * 3 + ["full_attention"] * 5}, 3),
    ):
        spec = model_from_config(llama | said)
        assert (spec.window, spec.num_windowed_layers, spec.chunked) == (8, chunked, True), said
    assert not model_from_config(llama | {"attention_chunk_size": None}).chunked


def test_what_a_sparse_file_leaves_out_is_not_worked_out_from_what_it_says():
    """Gemma 3 12B as Google publishes it has no head_dim: 3,840 / 16 heads would be 240."""
    hidden = {"hidden_size": 3840, "num_attention_heads": 16, "num_key_value_heads": 8}
    twelve = LLAMA | hidden | {"model_type": "gemma3_text"}
    assert model_from_config(twelve).head_dim == 256
    assert model_from_config(twelve | {"head_dim": None}).head_dim == 256
    four = {key: each for key, each in LLAMA.items() if "heads" not in key}
    read = model_from_config(four | {"model_type": "gemma3_text"})
    assert (read.num_heads, read.num_kv_heads, read.window) == (8, 4, 4096)


def test_a_window_that_is_null_stays_away_and_one_that_is_missing_is_the_familys():
    mistral = LLAMA | {"model_type": "mistral", "num_key_value_heads": 2}
    for config, window in ((mistral, 4096), (mistral | {"sliding_window": None}, None)):
        assert model_from_config(config).window == window
        assert read_config(compact_config(json.dumps(config))).window == window


def test_gemma_3_has_its_full_layers_where_the_pattern_says():
    gemma = LLAMA | {"model_type": "gemma3_text", "num_hidden_layers": 12, "sliding_window": 8}
    for pattern, windowed in ((6, 10), (4, 9), (12, 11)):
        said = gemma | {"sliding_window_pattern": pattern}
        assert model_from_config(said).num_windowed_layers == windowed


def test_every_other_layer_of_experts_alternates_and_first_dense_ones_do_not():
    maverick = LLAMA | LLAMA_4 | {"num_hidden_layers": 6, "interleave_moe_layer_step": 2}
    mixture = model_from_config(maverick | {"model_type": "llama4_text"}).mixture
    assert (mixture.num_dense_layers, mixture.alternating, mixture.num_shared) == (3, True, 1)
    assert mixture.expert_dim == LLAMA["intermediate_size"]
    deepseek = model_from_config(LLAMA | LATENT | {"model_type": "deepseek_v3"}).mixture
    assert (deepseek.num_dense_layers, deepseek.alternating) == (1, False)


def test_kimi_is_read_as_the_architecture_that_it_names():
    kimi = model_from_config(LLAMA | LATENT | {"model_type": "kimi_k2"})
    same = model_from_config(LLAMA | LATENT | {"model_type": "deepseek_v3"})
    assert (kimi.source, kimi.guessed) == (KNOWN, False)
    assert counts(kimi) == counts(same)


def test_an_unknown_type_is_counted_like_llama_and_says_so():
    known = model_from_config(LLAMA)
    unknown = model_from_config(LLAMA | {"model_type": "llama9"})
    assert (known.source, unknown.source) == (KNOWN, UNKNOWN)
    assert counts(unknown) == counts(known)


def test_what_a_file_leaves_out_is_what_transformers_takes():
    """The defaults of every family, against the config classes of transformers as installed."""
    from transformers import AutoConfig

    for kind, family in FAMILIES.items():
        theirs = AutoConfig.for_model(kind)
        found = {name: getattr(theirs, family.names[name]) for name in family.defaults}
        assert found == family.defaults, kind
        for key, value in family.missing.items():
            fields = [name for name in (key, *OTHER_NAMES.get(key, ())) if hasattr(theirs, name)]
            assert not fields or getattr(theirs, fields[0]) == value, (kind, key)


def test_a_missing_vocabulary_or_context_is_the_default_of_the_family():
    short = {"vocab_size", "max_position_embeddings"}
    llama = {key: value for key, value in LLAMA.items() if key not in short}
    for kind, expected in (("llama", (32_000, 2048)), ("qwen2", (151_936, 32_768))):
        spec = model_from_config(llama | {"model_type": kind})
        assert (spec.vocab_size, spec.seq_len) == expected, kind
    assert model_from_config(llama | {"vocab_size": None}).vocab_size == 32_000
    gpt2 = {key: value for key, value in GPT2.items() if key != "n_positions"}
    assert model_from_config(gpt2 | {"model_type": "gpt2"}).learned_positions == 1024


@pytest.mark.slow
def test_a_file_without_vocabulary_counts_as_the_module_that_transformers_builds_of_it():
    for kind in ("llama", "qwen2", "gemma", "stablelm"):
        sizes = {key: each for key, each in CASES[kind][0].items() if key != "model_type"}
        del sizes["vocab_size"]
        spec = model_from_config(sizes | {"model_type": kind})
        assert counts(spec).total == parameters_of(kind, sizes), kind


def test_nothing_counted_of_a_guessed_layout_is_exact():
    guess = model_from_config(LLAMA | {"model_type": "llama9"})
    trained = training_budget(guess, TrainingRecipe(seq_len=128), CLUSTER)
    trees = (
        count_parameters(guess), active_parameters(guess), trained.item,
        inference_budget(guess, ServingPlan(prompt_len=100, output_len=28), CLUSTER).item,
        weights_in(size_of("own", guess), "int8"), kv_cache(guess, 128),
        step_flops(guess, TrainingRecipe(seq_len=128)),
    )  # fmt: skip
    for tree in trees:
        assert not [line.name for line in tree.walk() if line.kind == "exact"], tree.name
    known = model_from_config(LLAMA)
    assert count_parameters(known).kind == "exact"
    assert count_parameters(known).amount == count_parameters(guess).amount


def test_the_language_part_of_a_model_that_also_sees_is_taken():
    seeing = {"architectures": ["XForConditionalGeneration"], "text_config": LLAMA}
    assert counts(model_from_config(seeing)) == counts(model_from_config(LLAMA))


def test_a_name_from_the_file_keeps_no_markup():
    spec = model_from_config(LLAMA | {"_name_or_path": "a/b](javascript:x)<b>`" + "c" * 90})
    assert spec.name.startswith("a/bjavascriptxb")
    assert len(spec.name) == 60


def without(key):
    return {name: value for name, value in LLAMA.items() if name != key}


REFUSED = [
    ({}, "config.json has no num_hidden_layers"),
    (without("hidden_size"), "config.json has no hidden_size"),
    (without("intermediate_size"), "config.json has no intermediate_size"),
    (LLAMA | {"hidden_size": -4096}, "hidden_size in config.json is -4096; it must lie between 1"),
    (LLAMA | {"num_hidden_layers": 0}, "num_hidden_layers in config.json is 0"),
    (LLAMA | {"vocab_size": 10**12}, "vocab_size in config.json is 1000000000000"),
    (LLAMA | {"vocab_size": 10**5000}, "vocab_size in config.json is a very large number"),
    (LLAMA | {"hidden_size": 96.0}, "hidden_size in config.json is 96.0; it must be a whole"),
    (LLAMA | {"hidden_size": "96"}, "hidden_size in config.json is '96'"),
    (LLAMA | {"hidden_size": True}, "hidden_size in config.json is True"),
    (LLAMA | {"hidden_size": float("nan")}, "hidden_size in config.json is nan"),
    (LLAMA | {"hidden_size": [96]}, "hidden_size in config.json is \\[96\\]"),
    (LLAMA | {"num_attention_heads": 7}, "96 channels cannot be shared out to 7 heads"),
    (LLAMA | {"num_key_value_heads": 4}, "num_kv_heads is 4, which does not divide num_heads 6"),
    (LLAMA | {"num_key_value_heads": 12}, "num_kv_heads is 12, which does not divide"),
    (LLAMA | {"tie_word_embeddings": "yes"}, "tie_word_embeddings in config.json is 'yes'"),
    (LLAMA | {"is_encoder_decoder": True}, "only decoders"),
    (LLAMA | {"architectures": ["BertForMaskedLM"]}, "describes 'BertForMaskedLM': only decoders"),
    (LLAMA | {"architectures": "Llama"}, "architectures in config.json is 'Llama'; it must be a"),
    (LLAMA | {"num_experts": 4, "num_experts_per_tok": 5}, "experts_per_token is 5; there are"),
    (LLAMA | {"num_experts": 4}, "config.json has no num_experts_per_tok"),
    (
        without("intermediate_size") | {"num_experts": 4, "num_experts_per_tok": 2},
        "config.json has no intermediate_size",
    ),
    (
        LLAMA | MIXTURE | {"shared_expert_intermediate_size": 99},
        "shared_expert_intermediate_size in config.json is 99: experts laid out that way",
    ),
    (LLAMA | MIXTURE | {"mlp_only_layers": "all"}, "mlp_only_layers in config.json is 'all'"),
    (LLAMA | LATENT | {"first_k_dense_replace": 4}, "num_dense_layers is 4; there are only 3"),
    (LLAMA | LATENT | {"attention_bias": True}, "Latent attention with biases"),
    (LLAMA | {"kv_lora_rank": 8}, "config.json has no qk_nope_head_dim"),
    (
        LLAMA | {"sliding_window": 4, "layer_types": ["sliding_attention"]},
        "lists 1 layers, but the model has 3",
    ),
    (
        LLAMA | {"model_type": "llama4_text", "no_rope_layers": "1110"},
        "config.json has no intermediate_size_mlp",
    ),
    (
        LLAMA | LLAMA_4 | {"model_type": "llama4_text", "no_rope_layers": "1110"},
        "no_rope_layers in config.json is '1110'; it must be a list of whole numbers",
    ),
    (
        LLAMA | LATENT | INDEXER | {"model_type": "deepseek_v32"},
        "it needs a query_rank",
    ),
    ([], "object in braces, not \\[\\]"),
]


def test_a_field_that_cannot_be_is_a_sentence_that_names_it():
    for config, sentence in REFUSED:
        refused(sentence, model_from_config, config)


def test_a_text_that_is_no_config_is_a_sentence():
    for text, sentence in (
        ("", "This is no JSON: line 1, column 1"),
        ("{\n 'a'", "This is no JSON: line 2, column 2"),
        ("[" * 90_000, "nested or long beyond reason"),
        ('{"vocab_size": ' + "9" * 5000 + "}", "nested or long beyond reason"),
        (" " * (MAX_CHARS + 1), "has 100,001 characters; a config.json has at most 100,000"),
        ("null", "object in braces, not None"),
    ):
        refused(sentence, read_config, text)


def test_a_shortened_config_describes_the_same_model():
    for kind, configs in CASES.items():
        for config in configs:
            full = json.dumps(
                config | {"model_type": kind, "torch_dtype": "bfloat16"} | STORED, indent=2
            )
            short = compact_config(full)
            assert read_config(short) == read_config(full), kind
            assert "torch_dtype" not in short
            assert config_notes(short) == config_notes(full), kind
            assert "\n" not in short
