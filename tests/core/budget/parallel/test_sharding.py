"""DDP, ZeRO and FSDP: against figure 1 of the ZeRO paper, and against the budget's own rules."""

import pytest

from core.budget.parallel.communication import communication
from core.budget.parallel.sharding import shardings
from core.budget.recipe import TrainingRecipe
from core.budget.share import shares
from core.budget.weights.parameters import share_counts
from core.models.spec import Mixture
from tests.core.budget.test_share import cluster, model

RECIPE = TrainingRecipe(precision="mixed_bf16")


def by_key(spread, spec=None, recipe=RECIPE):
    return {each.key: each for each in shardings(spec or model(), recipe, spread)}


def test_figure_1_of_the_zero_paper():
    """7.5 billion parameters on 64 ranks: 120, 31.4, 16.6 and 1.9 GB (Rajbhandari et al. 2020)."""
    found = by_key(cluster(64))
    num_params = share_counts(model(), shares(model(), cluster(64))[0]).total
    printed = {"ddp": 120, "zero1": 31.4, "zero2": 16.6, "zero3": 1.9}

    for key, gigabytes in printed.items():
        held = found[key].held.amount / num_params * 7.5
        assert held == pytest.approx(gigabytes, abs=0.05), key


def test_what_is_sent_is_what_the_budget_of_that_cluster_says():
    for zero, key in enumerate(("ddp", "zero1", "zero2", "zero3")):
        recipe = TrainingRecipe(accumulation=3)
        expected = communication(model(), recipe, cluster(64, tensor=2, zero_stage=zero))
        found = by_key(cluster(64, tensor=2), recipe=recipe)[key]
        assert found.sent.amount == expected.child("data parallel").amount, key


def test_in_one_node_hybrid_is_full_sharding():
    found = by_key(cluster(8))
    assert found["hybrid"].held.amount == found["zero3"].held.amount
    assert found["hybrid"].sent.amount == found["zero3"].sent.amount
    assert found["hybrid"].seconds.amount == pytest.approx(found["zero3"].seconds.amount)


def test_hybrid_takes_as_many_ranks_of_each_node_as_leave_equal_groups():
    """12 ranks on nodes of 8 cannot be groups of 8: they are three groups of four."""
    found = by_key(cluster(12))
    num_params = share_counts(model(), shares(model(), cluster(12))[0]).total
    assert found["hybrid"].held.amount == pytest.approx(16 * num_params / 4, rel=1e-6)
    between = found["hybrid"].sent.children[2]
    assert between.amount == pytest.approx(2 * 2 / 3 * 2 * num_params / 4, rel=1e-6)


def test_experts_are_sharded_over_the_ranks_that_hold_the_same_ones():
    spec = model(mixture=Mixture(num_experts=8, experts_per_token=2, expert_dim=1024))
    held = share_counts(spec, shares(spec, cluster(8, expert=4))[0])
    weights = by_key(cluster(8, expert=4), spec)["zero3"].held.child("weights")
    assert weights.amount == -(-(held.total - held.experts) * 2 // 8) + held.experts * 2 // 2
