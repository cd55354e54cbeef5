"""Where the blocks of each kind stand, and that one of each tells them all."""

import pytest

from core.budget.catalogue.models import MODELS
from core.models.build import build_model
from core.models.describe import unfold
from core.models.repeated import block_numbers, describe_gpt, describe_spec, one_of_each
from core.models.spec import GPTShape


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
