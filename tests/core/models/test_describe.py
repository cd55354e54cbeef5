"""A module as a tree: torch counts the same, on random shapes and on the whole catalogue."""

import random
from dataclasses import replace

import psutil
import pytest
import torch
from torch import nn

from core.budget.by_hand.gpt import count_parameters
from core.budget.catalogue.models import MODELS
from core.budget.weights.parameters import counts
from core.models.build import build_model
from core.models.chosen import FFN_RATIOS, describe_gpt, describe_spec, llama_like
from core.models.describe import by_part, describe, unfold
from core.models.first_values import FirstValues
from core.models.gpt import GPT
from core.models.small import SMALL, make
from core.models.spec import GPTShape
from core.train.config import TrainConfig
from core.train.start.presets import SIZES
from core.units import MIB


def random_shape(draw):
    heads = draw.choice([1, 2, 4])
    return GPTShape(
        num_layers=draw.randint(1, 5), hidden_dim=heads * draw.randint(2, 24), num_heads=heads,
        vocab_size=draw.randint(5, 300), seq_len=draw.randint(4, 64),
    )  # fmt: skip


def test_thirty_random_shapes_count_as_torch_counts_them():
    draw = random.Random(0)  # noqa: S311  shapes, no secrets
    for _time in range(30):
        shape = random_shape(draw)
        model, folded = GPT(shape), describe_gpt(shape)
        tree = describe(model)
        assert tree.num_params == sum(each.numel() for each in model.parameters()), shape
        assert folded.num_params == tree.num_params, shape
        leaves = {path: leaf for path, leaf in unfold(folded).leaves() if not leaf.tied_to}
        counted = {name: each.numel() for name, each in model.named_parameters()}
        assert {path: leaf.num_params for path, leaf in leaves.items()} == counted, shape
        assert {path: leaf.shape for path, leaf in leaves.items()} == {
            name: tuple(each.shape) for name, each in model.named_parameters()
        }, shape


def test_thirty_random_llamas_count_as_torch_and_as_their_closed_form():
    draw = random.Random(1)  # noqa: S311  shapes, no secrets
    for _time in range(30):
        heads = draw.choice([1, 2, 4])
        spec = llama_like(
            num_layers=draw.randint(1, 5), hidden_dim=heads * 2 * draw.randint(1, 24),
            num_heads=heads, num_kv_heads=draw.choice([k for k in (1, 2, 4) if heads % k == 0]),
            vocab_size=draw.randint(5, 300), ffn_ratio=draw.choice([*FFN_RATIOS.values()]),
        )  # fmt: skip
        spec = replace(spec, qk_norm=draw.random() < 0.5, tied=draw.random() < 0.5)
        model, folded = build_model(spec), describe_spec(spec)
        counted = sum(each.numel() for each in model.parameters())
        assert describe(model).num_params == folded.num_params == counted, spec
        assert counts(spec).total == counted, spec


def test_every_size_that_can_be_trained_counts_as_its_closed_form():
    for size, settings in SIZES.items():
        shape = TrainConfig(**settings).shape(vocab_size=103)
        assert describe_gpt(shape).num_params == count_parameters(shape).amount, size


@pytest.mark.slow
def test_one_block_of_each_kind_says_of_every_model_what_the_whole_module_says():
    for key, spec in MODELS.items():
        with FirstValues() as drawn:
            module = build_model(spec)
        whole, folded = describe(module, drawn), describe_spec(spec)
        assert unfold(folded) == whole, key
        assert folded.num_params == sum(each.numel() for each in module.parameters()), key
        assert by_part(folded) == by_part(whole), key


def test_the_parts_of_every_model_are_those_of_its_closed_form():
    for key, spec in MODELS.items():
        found, by_rule = by_part(describe_spec(spec)), counts(spec)
        tables = by_rule.embeddings + by_rule.head
        experts = by_rule.experts + by_rule.router + by_rule.shared_experts
        indexer_norm = 2 * spec.indexer.head_dim * spec.num_layers if spec.indexer else 0
        expected = {
            "embedding": tables,
            "attention": by_rule.attention - indexer_norm,
            "feed_forward": by_rule.dense_ffn,
            "experts": experts,
            "norms": by_rule.norms + by_rule.final_norm + indexer_norm,
        }
        assert found == {part: count for part, count in expected.items() if count}, key


def test_seventy_billion_parameters_take_no_memory():
    describe_spec(MODELS["gpt2"])  # what torch loads at its first use
    before = psutil.Process().memory_info().rss
    trees = [describe_spec(MODELS[key]) for key in ("llama-2-70b", "llama-3.1-405b")]
    assert psutil.Process().memory_info().rss - before < 32 * MIB
    assert [tree.num_bytes for tree in trees] == [4 * tree.num_params for tree in trees]
    assert trees[1].num_bytes > 1_600_000_000_000


def test_a_tied_parameter_counts_once_and_names_the_first():
    tree = describe(
        GPT(GPTShape(num_layers=1, hidden_dim=8, num_heads=2, vocab_size=11, seq_len=4))
    )
    tied = {path: leaf for path, leaf in tree.leaves() if leaf.tied_to}
    assert [(path, leaf.tied_to, leaf.num_params) for path, leaf in tied.items()] == [
        ("head.weight", "tokens.weight", 0)
    ]


def test_a_module_that_stands_twice_counts_once():
    shared = nn.Linear(3, 3)
    module = nn.Sequential(shared, nn.ReLU(), shared)
    tree = describe(module)
    assert tree.num_params == sum(each.numel() for each in module.parameters()) == 12
    assert {path for path, _leaf in tree.leaves()} == set(module.state_dict())


@pytest.mark.parametrize("key", SMALL)
def test_names_are_those_of_the_state_dict_and_bytes_too(key):
    module = make(key)
    tree, state = describe(module), module.state_dict()
    assert [path for path, _leaf in tree.leaves()] == list(state)
    assert tree.num_bytes == sum(each.numel() * each.element_size() for each in state.values())
    assert tree.num_params == sum(each.numel() for each in module.parameters())


def test_what_is_frozen_is_not_trainable():
    module = make("mlp")
    module[1].requires_grad_(requires_grad=False)
    tree = describe(module)
    assert (tree.num_params, tree.trainable) == (203_530, 256 * 10 + 10)


def test_a_buffer_is_saved_but_not_learned():
    leaves = dict(describe(nn.BatchNorm1d(4)).leaves())
    assert [(leaf.type, leaf.num_params) for leaf in leaves.values()] == [
        ("Parameter", 4), ("Parameter", 4), ("buffer", 0), ("buffer", 0), ("buffer", 0)
    ]  # fmt: skip


def test_on_meta_first_values_are_what_the_code_draws():
    leaves = dict(describe_gpt(replace(SHAPE, num_layers=8)).leaves())
    assert leaves["tokens.weight"].init == "N(0, 0.02)"
    assert leaves["blocks.0–7.attention.out.weight"].init == f"N(0, {0.02 / 16**0.5:.4g})"
    assert leaves["norm.weight"].init == "1"


def test_real_weights_say_their_measured_mean_and_spread():
    torch.manual_seed(0)
    layer = nn.Linear(64, 64)
    leaf = dict(describe(layer).leaves())["weight"]
    assert (
        leaf.init == f"mean {layer.weight.mean().item():.3g}, std {layer.weight.std().item():.3g}"
    )


SHAPE = GPTShape(num_layers=2, hidden_dim=16, num_heads=4, vocab_size=96, seq_len=64)
