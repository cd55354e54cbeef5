"""Gradients and weights between data ranks: against the ring, the ZeRO paper and torch itself."""

import pytest

from core.budget.catalogue.parameters import share_counts
from core.budget.parallel.ring import bytes_sent, ring_all_reduce
from core.budget.parallel.shares import shares
from core.budget.parallel.weight_traffic import weight_transfers
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.precisions import PRECISIONS
from core.models.spec import Mixture
from tests.core.budget.parallel.test_shares import cluster, model


def sent(spec, recipe, spread):
    (share,) = shares(spec, spread, recipe.accumulation)
    found = tuple(weight_transfers(spec, recipe, spread, share))
    return {(line.axis, line.item.name): line.item.amount for line in found}


def test_ddp_sends_what_the_ring_sends():
    small = model(
        num_layers=1, hidden_dim=4, num_heads=2, num_kv_heads=1, head_dim=2, ffn_dim=4,
        vocab_size=8,
    )  # fmt: skip
    spread = cluster(4)
    num_params = share_counts(small, shares(small, spread)[0]).total
    recipe = TrainingRecipe(precision="fp32")

    padded = num_params + -num_params % 4
    steps = ring_all_reduce([[1.0] * padded] * 4)
    assert sent(small, recipe, spread) == {
        ("data", "all-reduce of gradients"): bytes_sent(steps, rank=2)
    }


@pytest.mark.parametrize(("zero", "arrays"), [(0, 2), (1, 2), (2, 2), (3, 3)])
def test_zero_sends_two_or_three_times_the_parameters(zero, arrays):
    """Rajbhandari et al. 2020, section 7.1 and 7.2: 2 psi for stages 0 to 2, 3 psi for stage 3."""
    spread = cluster(4096, zero_stage=zero)
    num_bytes = 2 * share_counts(model(), shares(model(), spread)[0]).total
    amounts = sent(model(), TrainingRecipe(precision="mixed_bf16"), spread).values()

    assert sum(amounts) == pytest.approx(arrays * num_bytes * 4095 / 4096, rel=1e-6)


def test_what_is_sharded_cannot_wait_for_the_next_micro_batch():
    def ratio(zero):
        spread = cluster(8, zero_stage=zero)
        once = sum(sent(model(), TrainingRecipe(), spread).values())
        return sum(sent(model(), TrainingRecipe(accumulation=4), spread).values()) / once

    assert [ratio(zero) for zero in range(4)] == [1, 1, 2.5, 4]


def test_adapters_reduce_their_own_gradients_only():
    recipe = TrainingRecipe(lora=LoRA(rank=8, targets=("q", "v")))
    per_layer = 8 * ((8192 + 8192) + (8192 + 1024))
    gradients = PRECISIONS["mixed_bf16"].gradients
    ddp = sent(model(), recipe, cluster(8))
    sharded = sent(model(), recipe, cluster(8, zero_stage=3))
    full = sent(model(), TrainingRecipe(), cluster(8, zero_stage=3))

    assert sum(ddp.values()) == 2 * 7 * 80 * per_layer * gradients / 8
    name = ("data", "all-gather of weights")
    assert sharded[name] == full[name]


def test_experts_are_reduced_over_the_ranks_that_hold_the_same_ones():
    mixture = Mixture(num_experts=8, experts_per_token=2, expert_dim=1024)
    spec = model(mixture=mixture)
    together = sent(spec, TrainingRecipe(), cluster(8))
    apart = sent(spec, TrainingRecipe(), cluster(8, expert=4))
    held = share_counts(spec, shares(spec, cluster(8, expert=4))[0])

    assert list(together) == [("data", "all-reduce of gradients")]
    name = "all-reduce of gradients"
    assert apart["expert data", name] == 2 * (2 - 1) * held.experts * 2 / 2
    assert apart["data", name] == 2 * 7 * (held.total - held.experts) * 2 / 8


def test_one_rank_sends_nothing():
    assert sent(model(), TrainingRecipe(), cluster(1, zero_stage=3)) == {}


@pytest.mark.slow
def test_fully_shard_gathers_twice_and_scatters_once():
    from torch import nn
    from torch.distributed.fsdp import fully_shard

    from tests.core.budget.fake_ranks import Block, collectives, mesh_of_fake_ranks

    with mesh_of_fake_ranks() as mesh:
        blocks = [
            fully_shard(Block(), mesh=mesh, reshard_after_forward=True) for _layer in range(3)
        ]
        counted = collectives(nn.Sequential(*blocks))
    assert counted == {"c10d._allgather_base_": 2 * 3, "c10d._reduce_scatter_base_": 3}
