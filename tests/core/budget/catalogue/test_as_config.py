"""A model written as a config.json is the same model when it is read again."""

from dataclasses import replace

import pytest

from core.budget.catalogue.as_config import config_of
from core.budget.catalogue.hf_config import read_config
from core.budget.weights.parameters import counts
from core.models.chosen import FFN_RATIOS, describe_gpt, describe_spec, llama_like
from core.models.spec import GPTShape


@pytest.mark.parametrize("ratio", FFN_RATIOS.values())
def test_a_llama_is_read_again_with_every_parameter(ratio):
    sizes = {"num_layers": 80, "hidden_dim": 8192, "num_heads": 64, "num_kv_heads": 8}
    model = llama_like(**sizes, vocab_size=128_256, ffn_ratio=ratio)
    read = read_config(config_of(model))
    assert replace(read, name="", source="") == replace(model, name="", source="")
    assert counts(read).total == describe_spec(model).num_params


def test_a_gpt_is_read_as_a_gpt_2_of_its_sizes_with_biases():
    shape = GPTShape(num_layers=12, hidden_dim=768, num_heads=12, vocab_size=50_257, seq_len=1024)
    biases = 12 * (3 + 1 + 4 + 1 + 2) * 768 + 768  # qkv, out, up, down, two norms; the last norm
    read = read_config(config_of(shape))
    assert counts(read).total == describe_gpt(shape).num_params + biases == 124_439_808
    assert read.learned_positions == 1024
