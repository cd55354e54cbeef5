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
