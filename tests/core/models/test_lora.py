"""Adapters: nothing changes at first, counts by the paper's formula, names must exist."""

import pytest
import torch
from torch import nn

from core.budget.catalogue.models import MODELS
from core.models.build import build_model
from core.models.chosen import tree_of
from core.models.describe import by_part, describe
from core.models.gpt import GPT
from core.models.lora import (
    LoRALinear,
    add_lora,
    freeze_all_but,
    train_adapters,
    train_parts,
    usual_targets,
)
from core.models.small import SMALL, make
from core.models.spec import GPTShape

SHAPE = GPTShape(num_layers=2, hidden_dim=32, num_heads=4, vocab_size=65, seq_len=16)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return GPT(SHAPE).eval()


def test_a_new_adapter_changes_nothing_bit_for_bit(model):
    ids = torch.randint(0, 65, (2, 16))
    before = model.logits(ids)
    assert add_lora(model, ["qkv", "out"], rank=4) == 6
    assert torch.equal(model.logits(ids), before)


def test_only_adapters_learn_and_there_are_rank_times_both_sides_of_them(model):
    add_lora(model, ["qkv"], rank=4)
    learning = {name: p.numel() for name, p in model.named_parameters() if p.requires_grad}
    assert sum(learning.values()) == SHAPE.num_layers * 4 * (32 + 96)
    assert all("lora_" in name for name in learning)


def test_a_name_that_is_none_is_refused_with_the_names_that_are_there(model):
    with pytest.raises(ValueError, match=r"q_proj; the names here are: head, out, qkv, up"):
        add_lora(model, ["q_proj"])
    assert all(each.requires_grad for each in model.parameters()), "nothing was changed"
    with pytest.raises(ValueError, match="No linear layer is called ''"):
        add_lora(model, [])


def test_multihead_attention_has_no_q_proj_but_one_packed_weight():
    encoder = make("encoder")
    assert "self_attn.in_proj_weight" in dict(encoder.named_parameters())
    with pytest.raises(ValueError, match=r"names here are: linear1, linear2.*in_proj_weight"):
        add_lora(encoder, ["q_proj"])


@pytest.mark.parametrize("rank", [0, 33, -1])
def test_a_rank_beyond_the_matrix_is_refused(rank):
    with pytest.raises(ValueError, match=rf"The rank is {rank}; .* 64 × 32 .* 1 and 32"):
        LoRALinear(nn.Linear(32, 64), rank, 16.0)


def learning(module):
    return sum(each.numel() for each in module.parameters() if each.requires_grad)


@pytest.mark.parametrize("part", ["embedding", "attention", "feed_forward", "norms"])
def test_one_part_of_a_gpt_learns_and_torch_counts_the_same(part):
    model = GPT(SHAPE)
    count = freeze_all_but(model, [part])
    assert count == learning(model) == by_part(describe(model))[part]
    trained = train_parts(SHAPE, [part]).tree
    assert (trained.trainable, trained.num_params) == (count, describe(model).num_params)


def test_all_parts_are_the_whole_and_none_is_nothing():
    whole = tree_of(SHAPE)
    assert train_parts(SHAPE, list(by_part(whole))).tree.trainable == whole.num_params
    assert train_parts(SHAPE, []).tree.trainable == 0


def test_a_frozen_part_of_a_mixture_is_that_of_the_whole_module():
    spec = MODELS["qwen3-30b-a3b"]
    module = build_model(spec)
    assert train_parts(spec, ["experts"]).tree.trainable == freeze_all_but(module, ["experts"])
    assert learning(module) == by_part(tree_of(spec))["experts"]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["llama-3.2-1b", "olmo-2-7b", "gpt-oss-20b", "llama-4-maverick"])
def test_adapters_of_a_folded_model_are_those_of_the_whole_module(key):
    spec, targets = MODELS[key], usual_targets(tree_of(MODELS[key]))
    module = build_model(spec)
    num_adapted = add_lora(module, targets, rank=16)
    trained = train_adapters(spec, targets, 16)
    assert targets == ("q", "k", "v", "o")
    assert trained.num_adapted == num_adapted == 4 * spec.num_layers
    assert trained.tree.trainable == learning(module)
    assert trained.tree.num_params == sum(each.numel() for each in module.parameters())
    wide, narrow = spec.num_heads * spec.head_dim, spec.num_kv_heads * spec.head_dim
    both_sides = 2 * (spec.hidden_dim + wide) + 2 * (spec.hidden_dim + narrow)
    assert trained.tree.trainable == 16 * both_sides * spec.num_layers


@pytest.mark.parametrize("key", SMALL)
def test_a_small_module_has_usual_targets_that_take_adapters(key):
    targets = usual_targets(describe(make(key)))
    if key == "linear":  # it is one layer itself: there is nothing above it to hold an adapter
        assert targets == ("",)
        return
    trained = train_adapters(key, targets, 1)
    assert trained.num_adapted > 0
    assert 0 < trained.tree.trainable < trained.tree.num_params
