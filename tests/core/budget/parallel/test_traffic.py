"""What ranks send: against the ring, the ZeRO paper, sums done by hand and torch's own calls."""

import pytest

from core.budget.catalogue.models import MODELS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.parallel.ring import bytes_sent, ring_all_reduce
from core.budget.parallel.traffic import activation_transfers, reduced_bytes, weight_transfers
from core.budget.recipe import REDUCE_DTYPES, LoRA, TrainingRecipe
from core.budget.share import shares
from core.budget.weights.parameters import share_counts
from core.models.spec import Mixture
from core.units import GIB
from tests.core.budget.test_share import cluster, model


def sent_weights(spec, recipe, spread):
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
    assert sent_weights(small, recipe, spread) == {
        ("data", "all-reduce of gradients"): bytes_sent(steps, rank=2)
    }


@pytest.mark.parametrize(("zero", "arrays"), [(0, 2), (1, 2), (2, 2), (3, 3)])
def test_zero_sends_two_or_three_times_the_parameters(zero, arrays):
    """Rajbhandari et al. 2020, section 7.1 and 7.2: 2 psi for stages 0 to 2, 3 psi for stage 3."""
    spread = cluster(4096, zero_stage=zero)
    num_bytes = 2 * share_counts(model(), shares(model(), spread)[0]).total
    amounts = sent_weights(model(), TrainingRecipe(precision="mixed_bf16"), spread).values()
    assert sum(amounts) == pytest.approx(arrays * num_bytes * 4095 / 4096, rel=1e-6)


def test_adapters_reduce_their_own_gradients_only():
    recipe = TrainingRecipe(lora=LoRA(rank=8, targets=("q", "v")))
    per_layer = 8 * ((8192 + 8192) + (8192 + 1024))
    gradients = PRECISIONS["mixed_bf16"].gradients
    ddp = sent_weights(model(), recipe, cluster(8))
    sharded = sent_weights(model(), recipe, cluster(8, zero_stage=3))
    full = sent_weights(model(), TrainingRecipe(), cluster(8, zero_stage=3))

    assert sum(ddp.values()) == 2 * 7 * 80 * per_layer * gradients / 8
    name = ("data", "all-gather of weights")
    assert sharded[name] == full[name]


def test_experts_are_reduced_over_the_ranks_that_hold_the_same_ones():
    mixture = Mixture(num_experts=8, experts_per_token=2, expert_dim=1024)
    spec = model(mixture=mixture)
    together = sent_weights(spec, TrainingRecipe(), cluster(8))
    apart = sent_weights(spec, TrainingRecipe(), cluster(8, expert=4))
    held = share_counts(spec, shares(spec, cluster(8, expert=4))[0])

    assert list(together) == [("data", "all-reduce of gradients")]
    name = "all-reduce of gradients"
    assert apart["expert data", name] == 2 * (2 - 1) * held.experts * 2 / 2
    assert apart["data", name] == 2 * 7 * (held.total - held.experts) * 2 / 8


def test_fsdp2_reduces_in_bf16_unless_its_policy_says_float32():
    """MixedPrecisionPolicy: of Llama-2 7B on 8 ranks 10.98 GiB of gradients, or twice that."""
    spec, spread = MODELS["llama-2-7b"], cluster(8, zero_stage=3)
    sent = {
        dtype: sent_weights(spec, TrainingRecipe(precision="fsdp2", reduce_dtype=dtype), spread)
        for dtype in REDUCE_DTYPES
    }
    halves = -(-6_738_415_616 // 8) * 7
    scattered = {
        dtype: found["data", "reduce-scatter of gradients"] for dtype, found in sent.items()
    }
    assert scattered == {"none": 2 * halves, "float32": 4 * halves}
    assert sum(sent["none"].values()) == pytest.approx(32.9 * GIB, abs=0.05 * GIB)
    assert sum(sent["float32"].values()) == pytest.approx(43.9 * GIB, abs=0.05 * GIB)


@pytest.mark.parametrize("zero", [0, 1, 2, 3])
def test_only_fully_shard_has_a_reduce_dtype(zero):
    """DDP and ZeRO reduce gradients as they are kept; so does fully_shard without a policy."""
    for precision in PRECISIONS:
        if precision == "fsdp2" and zero == 3:
            continue
        found = [
            sent_weights(
                model(),
                TrainingRecipe(precision=precision, reduce_dtype=dtype),
                cluster(8, zero_stage=zero),
            )
            for dtype in REDUCE_DTYPES
        ]
        assert found[0] == found[1], precision
        ddp = sent_weights(model(), TrainingRecipe(precision=precision), cluster(8))
        row = PRECISIONS[precision]
        num_params = share_counts(model(), shares(model(), cluster(8))[0]).total
        each = max(row.gradients, row.accumulated) * num_params
        assert sum(ddp.values()) == pytest.approx(2 * 7 / 8 * each), precision


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


@pytest.mark.slow
@pytest.mark.parametrize("dtype", REDUCE_DTYPES)
def test_torch_reduces_in_the_dtype_that_is_counted(dtype):
    """What torch's own reduce-scatter is given for a layer of 2,128 parameters on four ranks."""
    import torch
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    from tests.core.budget.fake_ranks import Block, mesh_of_fake_ranks, scattered

    reduce = {"none": None, "float32": torch.float32}[dtype]
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=reduce)
    with mesh_of_fake_ranks() as mesh:
        (sent,) = scattered(fully_shard(Block(), mesh=mesh, mp_policy=policy))
    recipe = TrainingRecipe(precision="fsdp2", reduce_dtype=dtype)
    assert sent.itemsize == reduced_bytes(recipe, fully_sharded=True)


RECIPE = TrainingRecipe(batch_size=2, seq_len=4096)
STREAM = 2 * 4096 * 8192 * 2  # batch x tokens x hidden_dim x bytes


def sent_activations(spread, stage=0, spec=None, recipe=RECIPE):
    spec = spec or model()
    share = shares(spec, spread, recipe.accumulation)[stage]
    found = activation_transfers(spec, recipe, spread, share)
    return {line.item.name: line.item.amount for line in found}


def test_tensor_ranks_reduce_four_times_a_layer_and_once_at_each_end():
    found = sent_activations(cluster(8, tensor=8))
    assert found["all-reduce of activations"] == (4 * 80 + 2) * 2 * 7 * STREAM / 8
    assert found["all-reduce of the loss"] == 3 * 2 * 7 * 2 * 4096 * 4 / 8


def test_sequence_parallelism_sends_as_much_and_one_gather_more_a_matrix_pair():
    found = sent_activations(cluster(8, tensor=8, sequence_parallel=True))
    dense = sent_activations(cluster(8, tensor=8))["all-reduce of activations"]
    extra = (2 * 80 + 1) * 7 * STREAM / 8
    pair = found["all-gather of activations"] + found["reduce-scatter of activations"]
    assert pair == dense + extra


def test_stages_pass_the_stream_on_and_its_gradient_back():
    spread = cluster(4, pipeline=4)

    assert sent_activations(spread, 0) == {"activations to the next stage": STREAM}
    assert sent_activations(spread, 2) == {
        "activations to the next stage": STREAM,
        "gradients to the stage before": STREAM,
    }
    assert sent_activations(spread, 3) == {"gradients to the stage before": STREAM}


def test_tokens_go_to_their_experts_and_back_in_both_passes():
    spec = model(
        mixture=Mixture(num_experts=8, experts_per_token=2, expert_dim=64, num_dense_layers=20)
    )
    recipe = TrainingRecipe(batch_size=2, seq_len=4096, accumulation=3)

    found = sent_activations(cluster(8, expert=8), spec=spec, recipe=recipe)
    assert found == {"all-to-all of tokens": 3 * 60 * 4 * 2 * STREAM * 7 / 8}


@pytest.mark.slow
def test_torch_reduces_twice_a_layer_in_each_pass():
    from torch.distributed.tensor import parallel

    from tests.core.budget.fake_ranks import Block, collectives, mesh_of_fake_ranks

    columns, rows = parallel.ColwiseParallel(), parallel.RowwiseParallel()
    plan = {"qkv": columns, "o": rows, "up": columns, "down": rows}
    with mesh_of_fake_ranks() as mesh:
        counted = collectives(parallel.parallelize_module(Block(), mesh, plan))
    assert counted == {"c10d_functional.all_reduce": 4}


def test_virtual_stages_send_as_many_times_as_they_are():
    """Narayanan et al. 2021, section 2.2.2; the last stage hands its runs but one to the first."""
    recipe = TrainingRecipe(batch_size=1, seq_len=1024, accumulation=8)
    one = 8 * 1024 * 8192 * PRECISIONS[recipe.precision].residual
    spread = cluster(4, pipeline=4, virtual_stages=5)
    for share in shares(model(), spread, 8):
        found = tuple(activation_transfers(model(), recipe, spread, share))
        sent = {line.item.name: line.item.amount for line in found}
        assert sent["activations to the next stage"] == (5 - share.has_head) * one, share.stage
        assert sent["gradients to the stage before"] == (5 - share.has_embedding) * one
