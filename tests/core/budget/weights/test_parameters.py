"""Counting parameters: trees that add up, ranks that hold a part, formulas that show themselves."""

from dataclasses import replace

import pytest
from hypothesis import given, settings

from core.budget.catalogue.models import MODELS
from core.budget.share import Share, whole
from core.budget.weights.parameters import (
    PART_NAMES,
    active_parameters,
    count_parameters,
    counts,
    rows_and_columns,
    share_counts,
)
from core.models.build import build_model
from tests.core.budget.random_budgets import check_tree, specs

LLAMA = MODELS["llama-2-7b"]
PARTS = tuple(PART_NAMES)


@given(specs())
@settings(max_examples=60, deadline=None)
def test_the_tree_adds_up_to_the_counts(spec):
    tree, found = count_parameters(spec), counts(spec)
    assert tree.amount == found.total == sum(getattr(found, part) for part in PARTS)
    check_tree(tree)


def test_pipeline_stages_share_out_the_layers():
    spec = MODELS["deepseek-v3"]
    first = Share(num_layers=31, num_expert_layers=28, has_head=False)
    last = Share(stage=1, num_layers=30, num_expert_layers=30, has_embedding=False)

    first_part, last_part = share_counts(spec, first), share_counts(spec, last)

    assert first_part.total + last_part.total == spec.published
    assert first_part.head == last_part.token_embedding == 0


def test_a_tied_head_counts_once_and_is_a_copy_on_a_stage_without_the_embedding():
    spec = MODELS["llama-3.2-1b"]
    last = Share(stage=1, num_layers=8, has_embedding=False)
    assert counts(spec).head == 0
    assert share_counts(spec, last).head == counts(spec).token_embedding == 262_668_288


def test_matrices_are_what_linear_layers_hold_without_biases_router_and_norms():
    gpt2, mixtral = counts(MODELS["gpt2"]), counts(MODELS["mixtral-8x7b"])

    assert gpt2.matrices == 12 * 12 * 768**2
    assert gpt2.biases == 12 * (3 * 768 + 768 + 3072 + 768)
    assert mixtral.matrices == mixtral.attention + mixtral.experts
    assert mixtral.router == 32 * 4096 * 8
    assert gpt2.embeddings == (50_257 + 1024) * 768


def test_more_tensor_ranks_than_heads_is_a_sentence():
    for tensor in (5, 64):
        with pytest.raises(
            ValueError, match=f"{tensor} tensor-parallel ranks cannot share 32 heads"
        ):
            share_counts(LLAMA, replace(whole(LLAMA), tensor=tensor))


def test_a_token_looks_up_one_row_of_a_table_and_passes_the_whole_of_a_tied_one():
    """DeepSeek-V3 prints 37 B, with the table of 129,280 rows that one token does not pass."""
    deepseek, tied, gpt2 = (MODELS[key] for key in ("deepseek-v3", "gemma-2-9b", "gpt2"))
    table = 129_280 * 7168
    assert active_parameters(deepseek).amount == counts(deepseek).active - table + 7168
    assert active_parameters(deepseek).amount / 1e9 == pytest.approx(36.6, abs=0.05)
    assert active_parameters(tied).amount == counts(tied).total
    assert active_parameters(gpt2).amount == counts(gpt2).total - 1023 * 768


def test_rows_and_columns_are_those_of_the_modules_parameters():
    old = ("gpt2", "llama-3.1-8b", "qwen3-30b-a3b", "deepseek-v3", "qwen2.5-0.5b")
    for key in (*old, "gpt-oss-20b", "olmo-2-7b", "deepseek-v3.2", "llama-4-maverick"):
        spec = MODELS[key]
        mixture = spec.mixture and replace(spec.mixture, num_dense_layers=1)
        spec = replace(spec, num_layers=2, num_windowed_layers=0, mixture=mixture)
        shapes = [each.shape for each in build_model(spec).parameters()]
        expected = 0
        for shape in shapes:
            matrices = shape[:-2].numel()
            expected += shape.numel() if len(shape) < 2 else matrices * (shape[-1] + shape[-2])
        counted = rows_and_columns(spec, whole(spec), share_counts(spec, whole(spec)))
        assert counted == expected, key
