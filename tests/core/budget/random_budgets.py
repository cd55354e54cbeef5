"""Random models, recipes and clusters, and the rules that every tree of items keeps."""

import math
import re

from hypothesis import assume
from hypothesis import strategies as st

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.catalogue.profiles import PROFILES
from core.budget.cluster import Cluster
from core.budget.recipe import CHECKPOINTING, STEP_KINDS, LoRA, TrainingRecipe
from core.budget.serving.plan import ServingPlan
from core.budget.share import check_split
from core.models.spec import Indexer, LatentAttention, Mixture, ModelSpec

WEAKEST_LAST = ("exact", "data sheet", "measured", "bound", "estimated", "claimed")
KINDS = ("dense", "gpt", "experts", "latent")
FUNCTIONS = {"__builtins__": {"max": max, "min": min, "ceil": math.ceil}}
THOUSANDS = re.compile(r"(?<=\d),(?=\d)")  # a comma between arguments has a space after it
ON_ONE_DEVICE = tuple(key for key in PRECISIONS if key != "fsdp2")


@st.composite
def specs(draw, kinds=KINDS):
    """Small models of every family; all sizes are divisible by 8, so that they can be split."""
    kind = draw(st.sampled_from(kinds))
    num_heads = 8 * draw(st.integers(1, 3))
    num_layers = draw(st.integers(1, 8))
    gpt = kind == "gpt"
    return ModelSpec(
        name=f"random {kind}",
        num_layers=num_layers,
        hidden_dim=64 * draw(st.integers(1, 6)),
        num_heads=num_heads,
        num_kv_heads=num_heads if gpt else num_heads // draw(st.sampled_from([1, 2, 8])),
        head_dim=8 * draw(st.integers(1, 8)),
        ffn_dim=64 * draw(st.integers(1, 12)),
        vocab_size=8 * draw(st.integers(10, 500)),
        seq_len=4096,
        tied=draw(st.booleans()),
        gated=not gpt,
        norm="layer" if gpt else "rms",
        norm_bias=gpt,
        norms_per_layer=2 if gpt else draw(st.sampled_from([2, 4])),
        attention_bias="all" if gpt else draw(st.sampled_from(["none", "qkv"])),
        ffn_bias=gpt,
        qk_norm=kind in {"dense", "experts"} and draw(st.booleans()),
        qk_norm_over=draw(st.sampled_from(["head", "all heads"])),
        sinks=kind in {"dense", "experts"} and draw(st.booleans()),
        learned_positions=8192 if gpt else 0,
        mixture=draw(mixtures(num_layers)) if kind == "experts" else None,
        **(draw(latents()) if kind == "latent" else {}),
    )


@st.composite
def mixtures(draw, num_layers):
    experts = 8 * draw(st.integers(1, 2))
    return Mixture(
        num_experts=experts,
        experts_per_token=draw(st.integers(1, experts)),
        expert_dim=64 * draw(st.integers(1, 4)),
        num_shared=draw(st.integers(0, 1)),
        num_dense_layers=draw(st.integers(0, num_layers - 1)),
        alternating=draw(st.booleans()),
        bias=draw(st.booleans()),
    )


@st.composite
def latents(draw):
    sizes = [8 * draw(st.integers(1, 8)) for _each in range(4)]
    kv_rank, nope_dim, rope_dim, value_dim = sizes
    latent = LatentAttention(
        query_rank=draw(st.sampled_from([0, 48])),
        kv_rank=kv_rank,
        nope_dim=nope_dim,
        rope_dim=rope_dim,
        value_dim=value_dim,
    )
    indexer = Indexer(num_heads=4, head_dim=16, top_k=draw(st.sampled_from([8, 2048])))
    return {"latent": latent, "indexer": indexer if latent.query_rank else None}


@st.composite
def recipes(draw, *, lora=False):
    return TrainingRecipe(
        batch_size=draw(st.integers(1, 16)),
        seq_len=draw(st.sampled_from([128, 1000, 4096])),
        accumulation=draw(st.integers(1, 8)),
        precision=draw(st.sampled_from(ON_ONE_DEVICE)),
        optimizer=draw(st.sampled_from(tuple(OPTIMIZERS))),
        step_kind=draw(st.sampled_from(STEP_KINDS)),
        checkpointing=draw(st.sampled_from(CHECKPOINTING)),
        checkpoint_every=draw(st.integers(1, 4)),
        profile=draw(st.sampled_from(tuple(PROFILES))),
        loss_chunks=draw(st.sampled_from([1, 8])),
        lora=draw(st.none() | loras()) if lora else None,
    )


def loras():
    return st.builds(
        LoRA,
        rank=st.integers(1, 64),
        targets=st.sampled_from(
            [("o",), ("q", "v", "o"), ("q", "k", "v", "o", "gate", "up", "down")]
        ),
        base_format=st.sampled_from(["bfloat16", "nf4", "nf4_double_quant"]),
    )


@st.composite
def clusters(draw, spec, recipe=None):
    """Ways to spread `spec`; those that its sizes do not allow are left out.

    Context ranks and virtual stages only for a recipe whose tokens and micro-batches allow them.
    """
    allows_context = recipe is not None and not recipe.seq_len % 8 and recipe.profile != "megatron"
    tensor = draw(st.sampled_from([1, 2, 8]))
    pipeline = draw(st.integers(1, min(3, spec.num_layers)))
    data = draw(st.sampled_from([1, 2, 8]))
    context = draw(st.sampled_from([1, 1, 2, 4])) if allows_context else 1
    virtual = (
        draw(st.sampled_from([1, 1, 2]))
        if pipeline > 1 and recipe and not recipe.accumulation % pipeline
        else 1
    )
    cluster = Cluster(
        device=DEVICES[draw(st.sampled_from(["h100-sxm", "t4"]))],
        num_devices=tensor * pipeline * data * context,
        context=context,
        virtual_stages=virtual,
        zero_stage=draw(st.integers(0, 3)),
        tensor=tensor,
        sequence_parallel=draw(st.booleans()),
        pipeline=pipeline,
        expert=draw(st.sampled_from([1, data])) if spec.mixture else 1,
        overlap=draw(st.sampled_from([0.0, 0.5])),
    )
    try:
        check_split(spec, cluster)
    except ValueError:
        assume(False)
    return cluster


def plans():
    return st.builds(
        ServingPlan,
        weight_format=st.sampled_from(
            ["bfloat16", "int8", "nf4_double_quant", "int4_group128_affine"]
        ),
        kv_format=st.sampled_from(["bfloat16", "int8", "fp8_block128"]),
        prompt_len=st.integers(1, 8192),
        output_len=st.integers(0, 4096),
        concurrency=st.integers(1, 512),
    )


def check_tree(root, *, has_bands=True):
    """Assert the rules of a tree: sums, maxima, kinds, bands, one unit, words for each line.

    Only where nothing was measured to compare with has an estimate no band, and where the largest
    part is exact.
    """
    for each in root.walk():
        assert each.low <= each.amount <= each.high, each
        assert each.name, each
        assert each.source, each
        assert each.unit == root.unit, each
        assert each.amount >= 0, each
        if each.kind == "exact":
            assert each.low == each.amount == each.high, each
        if each.kind == "estimated" and has_bands and not each.children:
            assert each.low < each.high or not each.amount, each
        if each.children:
            kinds = [part.kind for part in each.children]
            assert each.kind == max(kinds, key=WEAKEST_LAST.index), each
            amounts = [part.amount for part in each.children]
            assert each.amount == (sum if each.combine == "sum" else max)(amounts), each
        else:
            assert each.rule is not None or each.kind in {"measured", "claimed"}, each
        if each.rule is not None:
            assert each.rule.of(each.values) == each.amount, each
        check_substituted(each)


def check_substituted(item):
    """Assert that the formula with its numbers put in gives the number again."""
    text = THOUSANDS.sub("", item.substituted)
    again = eval(text, FUNCTIONS)  # noqa: S307  our own arithmetic
    assert math.isclose(again, item.amount, rel_tol=1e-9, abs_tol=1e-12), (text, item.amount)
