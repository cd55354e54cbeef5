"""Any config.json: every family against the module that transformers builds of it on meta."""

import json
import math
from pathlib import Path

import pytest

from core.budget.catalogue.hf_config import (
    KNOWN,
    MAX_CHARS,
    UNKNOWN,
    compact_config,
    model_from_config,
    read_config,
)
from core.budget.catalogue.hf_families import FAMILIES, OTHER_NAMES
from core.budget.share import whole
from core.budget.weights.config_notes import config_notes
from core.budget.weights.parameters import (
    counts,
    rows_and_columns,
)
from tests.core.budget.refusals import refused

DATA = json.loads(Path(__file__).with_name("hf_cases.json").read_text(encoding="utf-8"))
LLAMA, MIXTURE, LATENT, INDEXER, LLAMA_4 = (
    DATA["parts"][name] for name in ("llama", "mixture", "latent", "indexer", "llama_4")
)
STORED = {"quantization_config": {"quant_method": "gptq", "bits": 4, "dataset": "c4" * 4000}}


def joined(case):
    """Return the fields of a case: those of the parts that it names and its own."""
    parts = [each if isinstance(each, dict) else DATA["parts"][each] for each in case]
    return {key: value for part in parts for key, value in part.items()}


CASES = {kind: [joined(case) for case in cases] for kind, cases in DATA["cases"].items()}


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


@pytest.mark.parametrize(
    "more", [{}, {"full_attention_interval": 2}, {"num_experts": 4, "num_experts_per_tok": 2}]
)
def test_layers_beyond_reason_are_refused_before_each_is_looked_at(more):
    """A few hundred characters would take minutes and gigabytes."""
    config = LLAMA | more
    refused("between 1 and 10,000", model_from_config, config | {"num_hidden_layers": 20_000_000})
    first = {"num_experts": 4, "num_experts_per_tok": 2, "first_k_dense_replace": 20_000_000}
    refused("there are only", model_from_config, config | first)


def test_a_quantization_that_is_no_word_is_none():
    config = LLAMA | {"quantization_config": {"quant_method": []}}
    assert model_from_config(config).quantized == ""


def test_a_text_that_is_no_config_is_a_sentence():
    for text, sentence in (
        ("", "This is no JSON: line 1, column 1"),
        ("{\n 'a'", "This is no JSON: line 2, column 2"),
        ("[" * 90_000, "nested or long beyond reason"),
        (f'{{"model_type": {"[" * 950}{"]" * 950}}}', "nested or long beyond reason"),
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
