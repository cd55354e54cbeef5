"""Attention, a statement at a time, against torch."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from core.tensors.attention import (
    LLAMA_70B,
    SIZES,
    TOY,
    by_hand,
    fused,
    largest_difference,
    run_attention,
    weight_per_head,
)
from core.units import GIB


def run(size, tokens, program):
    return run_attention(size, tokens, program(size, tokens))


@pytest.mark.parametrize("tokens", [2, 4, 16])
def test_by_hand_and_fused_agree(tokens):
    assert largest_difference(TOY, tokens) < 1e-6


def test_the_result_is_that_of_torch_on_the_same_numbers():
    chance = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 4, 8, generator=chance) for _each in range(3))
    heads = [each.view(2, 4, 2, 4).transpose(1, 2) for each in (q, k, v)]
    expected = scaled_dot_product_attention(*heads).transpose(1, 2).reshape(2, 4, 8)

    result = torch.from_numpy(run(TOY, 4, by_hand).result).float()
    assert torch.allclose(result, expected, atol=1e-6)
    weights = run(TOY, 4, by_hand).weights
    assert weights.shape == (4, 4)
    assert weights.sum(axis=1) == pytest.approx([1, 1, 1, 1])


def test_one_layer_of_llama_3_70b_makes_two_tensors_of_8_gib_at_8192_tokens():
    stages = run(LLAMA_70B, 8192, by_hand).stages
    large = [stage.name for stage in stages if stage.num_bytes == 8 * GIB]

    assert large == ["scores", "softmax"]
    assert max(s.num_bytes for s in stages if s.name not in large) == 8192 * 8192 * 2


def test_the_split_is_a_view_and_the_merge_by_hand_is_not():
    for size in SIZES.values():
        done = run(size, 128 if size is LLAMA_70B else 4, by_hand)
        assert done.stage("split Q").kind == "view"
        assert done.stage("merge").num_bytes > 0


def test_grouped_heads_are_copied_to_all_heads():
    done = run(LLAMA_70B, 128, by_hand)

    assert done.stage("repeat K").num_bytes == 64 * 128 * 128 * 2
    assert done.stage("split K").shape == (1, 8, 128, 128)


def test_sdpa_keeps_no_scores_and_its_merge_is_a_view():
    tokens = 16
    done = run(TOY, tokens, fused)

    assert done.stage("merge").kind == "view"
    made = sum(stage.num_bytes + stage.hidden_bytes for stage in done.stages)
    # the result, and one number for each query of each head
    assert made == 4 * (2 * tokens * 8 + 2 * 2 * tokens)


def test_ones_in_heads_of_4_times_a_weight_of_ones_are_all_4():
    done = run(TOY, 4, weight_per_head)

    assert (done.result == 4.0).all()
    assert [stage.kind for stage in done.stages] == ["view", "new", "view"]


def test_a_program_that_torch_refuses_is_told_in_its_words():
    with pytest.raises(ValueError, match="invalid for input of size"):
        run_attention(TOY, 4, {"split": "q.view(7)"})
