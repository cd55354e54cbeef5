"""What is said of a config.json beside its numbers."""

import json

import pytest

from core.budget.catalogue.hf_config import compact_config, model_from_config
from core.budget.weights.config_notes import config_notes
from core.budget.weights.parameters import counts
from core.units import format_count
from tests.core.budget.catalogue.test_hf_config import LLAMA


def notes(**changes):
    config = {key: value for key, value in (LLAMA | changes).items() if value is not None}
    return config_notes(json.dumps(config))


def test_a_file_that_says_everything_needs_no_note():
    assert notes() == ()


def test_a_default_is_told_with_its_field_its_number_and_whose_it_is():
    (said,) = notes(max_position_embeddings=None)
    assert all(word in said for word in ("max_position_embeddings", "2,048", "llama"))
    first, layers = notes(vocab_size=None)
    assert all(word in first for word in ("vocab_size", "32,000", "llama"))
    assert format_count(counts(model_from_config(LLAMA)).layers) in layers


def test_an_unknown_type_is_an_estimate_with_llamas_defaults():
    guess, missing = notes(model_type="llama9", max_position_embeddings=None)
    assert "estimate" in guess
    assert "llama" in missing
    assert "llama9" not in missing


def test_every_size_that_a_sparse_file_leaves_out_is_told():
    said = notes(model_type="gemma3_text", num_attention_heads=None, num_key_value_heads=None)
    fields = {"num_attention_heads": "8", "num_key_value_heads": "4", "head_dim": "256"}
    told = {**fields, "sliding_window": "4,096"}
    for sentence, (field, value) in zip(said, told.items(), strict=True):
        assert field in sentence
        assert value in sentence


def test_what_is_beside_the_text_model_is_told_and_a_link_keeps_that():
    (layer,) = notes(num_nextn_predict_layers=1)
    assert "1 layer for" in layer
    seeing = json.dumps({"text_config": LLAMA, "vision_config": {"hidden_size": 1152}})
    (vision,) = config_notes(seeing)
    assert "vision_config" in vision
    assert config_notes(compact_config(seeing)) == (vision,)


def test_a_type_that_is_counted_as_another_says_so():
    latent = {"kv_lora_rank": 24, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8}
    (said,) = notes(model_type="kimi_k2", **latent)
    assert "kimi_k2" in said
    assert "deepseek_v3" in said


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        ({"quant_method": "gptq", "bits": 4, "desc_act": False}, ("gptq", "bits: 4")),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, ("fp8",)),
        ({"load_in_4bit": True}, ("load_in_4bit: True",)),
        ("awq", ("awq",)),
        ({}, ("stored quantized",)),
    ],
)
def test_quantized_storage_is_told_and_counts_the_same_parameters(stored, words):
    (said,) = notes(quantization_config=stored)
    assert all(word in said for word in words)
    text = json.dumps(LLAMA | {"quantization_config": stored})
    assert config_notes(compact_config(text)) == (said,)
    seeing = {"text_config": LLAMA, "quantization_config": stored}
    assert config_notes(json.dumps(seeing)) == (said,)


def test_what_cannot_be_read_has_no_notes():
    with pytest.raises(ValueError, match="object in braces"):
        config_notes("[]")
