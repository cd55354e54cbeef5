"""The parts of a model that ranks hold: nothing lost, nothing twice, and what cannot be split."""

import numpy as np
import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster, DeviceSpec
from core.budget.share import shares
from core.budget.weights.parameters import counts, share_counts
from core.models.spec import LatentAttention, Mixture, ModelSpec
from tests.core.budget.refusals import refused

DEVICE = DeviceSpec(
    name="test", peak={"bfloat16": 1e15}, memory_sold=80e9, memory_usable=79e9, bandwidth=3e12,
    link=450e9, host_link=64e9, source="made up", date="2026-11",
)  # fmt: skip


def model(**fields):
    sizes = {
        "name": "test", "num_layers": 80, "hidden_dim": 8192, "num_heads": 64, "num_kv_heads": 8,
        "head_dim": 128, "ffn_dim": 28672, "vocab_size": 128256, "seq_len": 8192,
    }  # fmt: skip
    return ModelSpec(**(sizes | fields))


def cluster(num_devices, **fields):
    return Cluster(device=DEVICE, num_devices=num_devices, **fields)


def test_the_stages_together_have_every_layer_once():
    rng = np.random.default_rng(6)
    for _case in range(300):
        layers, stages = int(rng.integers(1, 131)), int(rng.integers(1, 21))
        if stages > layers:
            continue
        dense, windowed = map(int, rng.integers(0, layers + 1, 2))
        mixture = Mixture(num_experts=8, experts_per_token=2, expert_dim=64, num_dense_layers=dense)
        spec = model(num_layers=layers, mixture=mixture, window=64, num_windowed_layers=windowed)
        parts = shares(spec, cluster(stages, pipeline=stages))
        case = (layers, stages, dense, windowed)
        sizes = [part.num_layers for part in parts]
        assert sum(sizes) == layers, case
        assert max(sizes) - min(sizes) <= 1, case
        assert sum(part.num_expert_layers for part in parts) == layers - dense, case
        assert sum(part.num_windowed_layers for part in parts) == windowed, case
        assert [part.has_embedding for part in parts] == [True] + [False] * (stages - 1), case
        assert [part.has_head for part in parts] == [False] * (stages - 1) + [True], case


def test_layers_of_experts_that_alternate_are_shared_out_evenly():
    spec = MODELS["llama-4-maverick"]
    found = shares(spec, Cluster(device=DEVICES["h100-sxm"], num_devices=8, pipeline=8))
    assert [(share.num_layers, share.num_expert_layers) for share in found] == [(6, 3)] * 8
    held = [share_counts(spec, share).total for share in found]
    assert sum(held) == counts(spec).total


def test_one_forward_one_backward_holds_most_micro_batches_at_the_first_stage():
    spread = cluster(4, pipeline=4)
    assert [part.in_flight for part in shares(model(), spread)] == [4, 3, 2, 1]
    assert [part.in_flight for part in shares(model(), spread, 2)] == [2, 2, 2, 1]


@pytest.mark.parametrize(
    ("zero", "shards"), [(0, (1, 1, 1)), (1, (1, 1, 8)), (2, (1, 8, 8)), (3, (8, 8, 8))]
)
def test_each_zero_stage_shards_one_thing_more_over_the_data_ranks(zero, shards):
    part = shares(model(), cluster(64, tensor=4, pipeline=2, zero_stage=zero))[0]
    assert (part.weight_shards, part.gradient_shards, part.optimizer_shards) == shards


def test_latent_attention_asks_only_for_its_heads():
    latent = LatentAttention(query_rank=1536, kv_rank=512, nope_dim=128, rope_dim=64, value_dim=128)
    spec = model(num_heads=128, num_kv_heads=128, latent=latent)
    assert shares(spec, cluster(128, tensor=128))[0].tensor == 128


def test_virtual_stages_are_dealt_out_in_turn():
    """Narayanan et al. 2021, section 2.2.2: of 16 layers the first of 4 has 1, 2, 9 and 10."""
    spread = cluster(4, pipeline=4, virtual_stages=2)
    mixture = Mixture(num_experts=8, experts_per_token=2, expert_dim=64, num_dense_layers=3)
    parts = shares(model(num_layers=16, mixture=mixture), spread)
    assert [part.num_layers for part in parts] == [4, 4, 4, 4]
    assert [part.num_layers - part.num_expert_layers for part in parts] == [2, 1, 0, 0]
    assert [part.has_embedding for part in parts] == [True, False, False, False]
    assert [part.has_head for part in parts] == [False, False, False, True]


def test_context_ranks_hold_the_same_weights_and_zero_shards_over_them_too():
    part = shares(model(), cluster(64, tensor=2, context=8, zero_stage=3))[0]
    assert (part.weight_shards, part.num_layers) == (32, 80)
    assert cluster(64, tensor=2, context=8).data == 4


EXPERTS = Mixture(num_experts=8, experts_per_token=2, expert_dim=30)


@pytest.mark.parametrize(
    ("spec", "split", "sentence"),
    [
        (model(), {"pipeline": 81}, "81 pipeline stages are more than the 80 layers of test"),
        (
            model(),
            {"tensor": 128},
            "128 tensor-parallel ranks cannot share the 64 attention heads of test",
        ),
        (model(num_heads=40, num_kv_heads=10), {"tensor": 4}, "4 .* cannot share the 10 key and"),
        (
            model(ffn_dim=9),
            {"tensor": 2},
            "2 tensor-parallel ranks cannot share the feed-forward width 9",
        ),
        (model(mixture=EXPERTS), {"tensor": 4}, "4 .* cannot share the feed-forward width 30"),
        (
            model(),
            {"expert": 2},
            "test has no experts, so there is nothing for 2 expert-parallel ranks",
        ),
        (
            model(mixture=EXPERTS),
            {"expert": 16},
            "16 expert-parallel ranks cannot share the 8 experts",
        ),
    ],
)
def test_a_split_that_cannot_be_is_a_sentence(spec, split, sentence):
    (devices,) = split.values()
    refused(sentence, shares, spec, cluster(devices, **split))
