"""Any model by what describes it: sizes that are rounded, trees and FLOPs of each kind."""

import math

import pytest
import torch

from core.budget.catalogue.models import MODELS
from core.budget.weights.parameters import counts
from core.models.build import build_model
from core.models.chosen import (
    FFN_RATIOS,
    block_numbers,
    describe_gpt,
    describe_spec,
    flops_of,
    llama_like,
    one_of_each,
    tree_of,
)
from core.models.describe import unfold
from core.models.gpt import GPT
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


def blocks_of(tree):
    (blocks,) = (each for each in tree.children if each.name == "blocks")
    return blocks.children


@pytest.mark.slow
def test_blocks_stand_where_the_built_module_has_them():
    for key in ("llama-3.2-1b", "kimi-k2", "deepseek-v3", "llama-4-scout", "llama-4-maverick"):
        module = build_model(MODELS[key])
        kinds = [type(block.feed_forward).__name__ for block in module.blocks]
        expected = [
            [i for i, each in enumerate(kinds) if each == kind]
            for kind in sorted(set(kinds), reverse=True)
        ]  # fmt: skip  SwiGLU before MixtureOfExperts
        assert block_numbers(MODELS[key]) == expected, key
        one = [type(block.feed_forward).__name__ for block in one_of_each(MODELS[key]).blocks]
        assert one == sorted(set(kinds), reverse=True), key


def test_experts_in_every_other_block_are_named_by_their_places():
    found = blocks_of(describe_spec(MODELS["llama-4-maverick"]))
    assert [(each.name, each.count) for each in found] == [
        ("0, 2…46", 24), ("1, 3…47", 24)
    ]  # fmt: skip
    opened = blocks_of(unfold(describe_spec(MODELS["llama-4-maverick"])))
    assert [each.name for each in opened] == [str(number) for number in range(48)]
    assert all(opened[i].num_params < opened[i + 1].num_params for i in range(0, 48, 2))


def test_one_dense_block_before_the_experts_is_named_by_its_number():
    assert [each.name for each in blocks_of(describe_spec(MODELS["kimi-k2"]))] == ["0", "1–60"]


def test_everything_in_a_tree_is_on_meta():
    assert all(each.is_meta for each in one_of_each(MODELS["llama-3.1-405b"]).parameters())


def test_a_change_reaches_every_block():
    shape = GPTShape(num_layers=7, hidden_dim=16, num_heads=2, vocab_size=32, seq_len=8)
    tree = describe_gpt(shape, lambda module: module.blocks.requires_grad_(requires_grad=False))
    blocks = sum(each.num_params for each in blocks_of(tree))
    assert tree.trainable == tree.num_params - blocks
    assert blocks == 7 * blocks_of(unfold(tree))[0].num_params
