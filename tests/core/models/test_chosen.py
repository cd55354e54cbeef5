"""Any model by what describes it: sizes that are rounded, trees and FLOPs of each kind."""

import math

import pytest
import torch

from core.budget.catalogue.models import MODELS
from core.budget.weights.parameters import counts
from core.models.build import build_model
from core.models.chosen import FFN_RATIOS, flops_of, llama_like, tree_of
from core.models.gpt import GPT
from core.models.small import SMALL, make
from core.models.spec import GPTShape

SIZES = {"num_layers": 3, "num_heads": 4, "num_kv_heads": 2, "vocab_size": 96}


@pytest.mark.parametrize("ratio", FFN_RATIOS)
def test_a_llama_of_any_width_counts_as_its_closed_form_and_as_torch(ratio):
    for width in (32, 256, 1000, 4096):
        spec = llama_like(**SIZES, hidden_dim=width, ffn_ratio=FFN_RATIOS[ratio])
        assert spec.ffn_dim % 256 == 0
        assert 0 <= spec.ffn_dim - float(FFN_RATIOS[ratio]) * width < 256, width
        built = sum(each.numel() for each in build_model(spec).parameters())
        assert tree_of(spec).num_params == counts(spec).total == built, width


def test_the_ratio_3_5_is_that_of_llama_3_and_8_thirds_that_of_llama_2():
    for ratio, key in (("3.5", "llama-3-8b"), ("3.5", "llama-3.1-70b"), ("8/3", "llama-2-7b")):
        real = MODELS[key]
        spec = llama_like(**SIZES, hidden_dim=real.hidden_dim, ffn_ratio=FFN_RATIOS[ratio])
        assert spec.ffn_dim == real.ffn_dim, key


def test_heads_that_do_not_divide_are_refused():
    with pytest.raises(ValueError, match="num_kv_heads is 3"):
        llama_like(**(SIZES | {"num_kv_heads": 3}), hidden_dim=64)


@pytest.mark.parametrize("key", SMALL)
def test_a_small_module_is_described_as_it_is(key):
    module = make(key)
    assert tree_of(key).num_params == sum(each.numel() for each in module.parameters())
    assert tree_of(key, lambda each: each.requires_grad_(requires_grad=False)).trainable == 0


def test_a_context_shorter_than_what_is_counted_is_made_longer_for_the_count():
    short, long = (
        GPTShape(num_layers=2, hidden_dim=16, num_heads=2, vocab_size=32, seq_len=seq_len)
        for seq_len in (8, 1024)
    )
    assert flops_of(short) == flops_of(long)
    assert tree_of(short).num_params == sum(each.numel() for each in GPT(short).parameters())


@pytest.mark.slow
def test_flops_of_models_of_every_kind_can_be_counted():
    for key in ("gpt2", "gpt-oss-20b", "llama-4-maverick", "deepseek-v3.2", "olmo-2-7b"):
        flops = flops_of(MODELS[key])
        assert math.isfinite(flops[""]), key
        assert flops[""] >= flops["head"] > 0, key
    assert not torch.cuda.is_initialized(), "on meta nothing is computed"
