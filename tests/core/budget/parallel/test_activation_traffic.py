"""Activations between ranks: against torch's own calls, and against sums done by hand."""

import pytest

from core.budget.parallel.activation_traffic import activation_transfers
from core.budget.parallel.shares import shares
from core.budget.recipe import TrainingRecipe
from core.models.spec import Mixture
from tests.core.budget.parallel.test_shares import cluster, model

RECIPE = TrainingRecipe(batch_size=2, seq_len=4096)
STREAM = 2 * 4096 * 8192 * 2  # batch x tokens x hidden_dim x bytes


def sent(spread, stage=0, spec=None, recipe=RECIPE):
    spec = spec or model()
    share = shares(spec, spread, recipe.accumulation)[stage]
    found = activation_transfers(spec, recipe, spread, share)
    return {line.item.name: line.item.amount for line in found}


def test_tensor_ranks_reduce_four_times_a_layer_and_once_at_each_end():
    found = sent(cluster(8, tensor=8))

    assert found["all-reduce of activations"] == (4 * 80 + 2) * 2 * 7 * STREAM / 8
    assert found["all-reduce of the loss"] == 3 * 2 * 7 * 2 * 4096 * 4 / 8


def test_sequence_parallelism_sends_as_much_and_one_gather_more_a_matrix_pair():
    found = sent(cluster(8, tensor=8, sequence_parallel=True))
    dense = sent(cluster(8, tensor=8))["all-reduce of activations"]
    extra = (2 * 80 + 1) * 7 * STREAM / 8

    pair = found["all-gather of activations"] + found["reduce-scatter of activations"]
    assert pair == dense + extra


def test_recomputing_a_layer_sends_its_forward_pass_again():
    full = TrainingRecipe(batch_size=2, seq_len=4096, checkpointing="full")
    name = "all-reduce of activations"

    again = sent(cluster(8, tensor=8), recipe=full)[name] - sent(cluster(8, tensor=8))[name]
    assert again == 2 * 80 * 2 * 7 * STREAM / 8


def test_stages_pass_the_stream_on_and_its_gradient_back():
    spread = cluster(4, pipeline=4)

    assert sent(spread, 0) == {"activations to the next stage": STREAM}
    assert sent(spread, 2) == {
        "activations to the next stage": STREAM,
        "gradients to the stage before": STREAM,
    }
    assert sent(spread, 3) == {"gradients to the stage before": STREAM}


def test_sequence_parallel_ranks_pass_on_only_their_own_tokens():
    spread = cluster(16, pipeline=2, tensor=8, sequence_parallel=True)

    assert sent(spread, 1)["gradients to the stage before"] == STREAM / 8


def test_tokens_go_to_their_experts_and_back_in_both_passes():
    spec = model(
        mixture=Mixture(num_experts=8, experts_per_token=2, expert_dim=64, num_dense_layers=20)
    )
    recipe = TrainingRecipe(batch_size=2, seq_len=4096, accumulation=3)

    found = sent(cluster(8, expert=8), spec=spec, recipe=recipe)
    assert found == {"all-to-all of tokens": 3 * 60 * 4 * 2 * STREAM * 7 / 8}


def test_at_most_every_token_leaves_for_its_experts():
    spec = model(mixture=Mixture(num_experts=8, experts_per_token=2, expert_dim=64))
    spread = cluster(8, expert=8)
    (share,) = shares(spec, spread, 1)
    (line,) = activation_transfers(spec, RECIPE, spread, share)

    assert line.item.kind == "estimated"
    assert line.item.high == pytest.approx(80 * 4 * 2 * STREAM)


def test_one_rank_sends_nothing():
    assert sent(cluster(1, sequence_parallel=True)) == {}


@pytest.mark.slow
def test_torch_reduces_twice_a_layer_in_each_pass():
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        parallelize_module,
    )

    from tests.core.budget.fake_ranks import Block, collectives, mesh_of_fake_ranks

    plan = {
        "qkv": ColwiseParallel(),
        "o": RowwiseParallel(),
        "up": ColwiseParallel(),
        "down": RowwiseParallel(),
    }
    with mesh_of_fake_ranks() as mesh:
        counted = collectives(parallelize_module(Block(), mesh, plan))
    assert counted == {"c10d_functional.all_reduce": 4}
