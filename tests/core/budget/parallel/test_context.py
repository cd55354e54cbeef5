"""Context parallelism: bytes by hand, nothing with one rank, and chunks that balance the work."""

from dataclasses import replace

import numpy as np
import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.parallel.communication import communication, exposed_seconds
from core.budget.parallel.context import causal_work, local_recipe, zigzag
from core.budget.parallel.ranks import group, rank_at
from core.budget.recipe import TrainingRecipe
from core.budget.training.duration import training_time
from core.budget.training.memory import training_budget
from tests.core.budget.refusals import refused

LLAMA = MODELS["llama-3.1-8b"]
LONG = TrainingRecipe(seq_len=131_072, precision="pure_bf16")
EIGHT = Cluster(device=DEVICES["h100-sxm"], num_devices=8, context=8)


def test_a_rank_of_llama_sends_seven_eighths_of_all_keys_and_values_three_times_a_layer():
    """7/8 x 2 x 131,072 tokens x 8 heads x 128 x 2 bytes = 469,762,048 a layer and pass."""
    line = communication(LLAMA, LONG, EIGHT).child("context parallel").children[0]
    assert line.amount == 32 * 3 * 469_762_048
    assert line.kind == "exact"
    again = communication(LLAMA, replace(LONG, checkpointing="full"), EIGHT)
    assert again.child("context parallel").amount == 32 * 4 * 469_762_048


def test_activations_fall_to_a_rank_s_tokens_and_weights_stay():
    """Megatron-LM, user guide: the activation memory is smaller by the size of the group."""
    for context in (2, 4, 8):
        spread = Cluster(device=DEVICES["h100-sxm"], num_devices=context, context=context)
        shared = training_budget(LLAMA, LONG, spread).item
        alone = training_budget(LLAMA, replace(LONG, seq_len=131_072 // context), spread_1()).item
        for name in ("weights", "optimizer", "step peak", "data"):
            assert shared.child(name).amount == alone.child(name).amount, (context, name)
        block = shared.child("received keys and values")
        assert block.amount == 2 * 131_072 // context * 8 * 128 * 2


def spread_1():
    return Cluster(device=DEVICES["h100-sxm"])


def test_gradients_are_reduced_and_zero_shards_over_data_and_context_ranks():
    """Megatron-LM: get_data_parallel_group(with_context_parallel=True)."""
    short = replace(LONG, seq_len=8192)
    mixed = Cluster(device=DEVICES["h100-sxm"], num_devices=64, context=8, zero_stage=3)
    data = replace(mixed, context=1)
    assert (mixed.data, mixed.weight_ranks) == (8, 64)
    found, plain = (communication(LLAMA, short, each) for each in (mixed, data))
    assert found.child("data parallel").amount == plain.child("data parallel").amount
    held = [training_budget(LLAMA, short, each).item for each in (mixed, data)]
    for name in ("weights", "optimizer"):
        assert held[0].child(name).amount == held[1].child(name).amount, name
    assert group(mixed, "data").size == 64
    assert group(mixed, "context").size == 8


def test_llama_3_s_long_layout_gives_a_rank_as_many_tokens_as_its_short_one():
    """Llama 3, table 4: 131,072 tokens over CP 16, 16,384 GPUs, 16.8 M tokens a step."""
    spread = Cluster(
        device=DEVICES["h100-sxm"], num_devices=16_384, tensor=8, context=16, pipeline=16
    )
    assert local_recipe(LONG, spread).seq_len == 8192
    assert spread.data * 16 * 131_072 == 16_777_216


def test_the_flops_of_a_sequence_are_shared_and_the_step_has_data_ranks_only():
    tokens = 8 * 131_072
    whole = training_time(LLAMA, LONG, spread_1(), tokens, 0.5).child("compute").amount
    shared = training_time(LLAMA, LONG, EIGHT, tokens, 0.5).child("compute").amount
    assert shared == pytest.approx(whole / 8)
    assert exposed_seconds(LLAMA, LONG, EIGHT).child("context parallel").amount > 0


def test_context_ranks_stand_between_tensor_and_data_ranks():
    """Megatron-LM, core/parallel_state.py: order "tp-cp-ep-dp-pp"."""
    spread = Cluster(device=DEVICES["h100-sxm"], num_devices=48, tensor=2, context=4, pipeline=3)
    mesh = np.arange(48).reshape(3, 2, 4, 2)
    for number in range(48):
        one = rank_at(spread, number)
        assert mesh[one.stage, one.replica, one.context, one.tensor] == number


def test_a_chunk_from_each_end_balances_a_causal_mask():
    """Counted over a mask of 16 tokens; Megatron-LM, core/utils.py, takes chunks r, 2c - 1 - r."""
    for num_ranks in (1, 2, 4, 8):
        mask = np.tril(np.ones((16 * num_ranks, 16 * num_ranks)))
        rows = np.split(mask.sum(axis=1), 2 * num_ranks)
        whole = mask.sum()
        counted = [sum(rows[chunk].sum() for chunk in pair) / whole for pair in zigzag(num_ranks)]
        assert counted == pytest.approx([1 / num_ranks] * num_ranks)
        assert causal_work(num_ranks, in_zigzag=True) == pytest.approx(counted)
        uneven = causal_work(num_ranks, in_zigzag=False)
        assert sum(uneven) == pytest.approx(1)
        assert max(uneven) * num_ranks == pytest.approx((2 * num_ranks - 1) / num_ranks)


def test_what_context_ranks_cannot_share_is_a_sentence():
    odd = replace(LONG, seq_len=1000)
    refused(
        "1000 tokens cannot be shared by 8 context-parallel ranks.* multiple of 16 tokens",
        training_budget, LLAMA, odd, EIGHT,
    )  # fmt: skip
    written = replace(LONG, profile="megatron", seq_len=4096)
    refused("writes no scores", training_budget, LLAMA, written, EIGHT)


def test_whole_keys_of_latent_attention_are_an_estimate():
    spread = Cluster(device=DEVICES["h100-sxm"], num_devices=8, context=8)
    line = communication(MODELS["deepseek-v3"], LONG, spread).child("context parallel").children[0]
    assert line.kind == "estimated"
    assert line.low < 0.1 * line.amount
