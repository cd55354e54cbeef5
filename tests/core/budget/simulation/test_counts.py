"""FLOPs and kept bytes as torch counts them on meta: the oracle of the closed forms.

`FlopCounterMode` knows no CPU attention and skips what it does not know without a word. The missing
operations are registered here, and what looks like a matrix product but is in no registry is named.
It lengthens the lives of tensors, so it never runs in the same pass as a memory trace.
"""

from dataclasses import replace
from typing import NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode, flop_registry

from core.budget.catalogue.models import MODELS
from core.budget.recipe import TrainingRecipe
from core.budget.simulation.step import PreparedStep
from core.budget.simulation.tracker import StorageTracker
from core.models.kernels import KERNELS
from core.models.spec import LatentAttention, Mixture
from tests.core.budget.simulation.test_prepared import GPT2, LLAMA, recipe

PRODUCT_WORDS = {"mm", "matmul", "bmm", "conv", "attention", "linear", "dot", "einsum"}


class Counted(NamedTuple):
    """FLOPs of one pass of one micro-batch; `recompute` is what checkpointing runs again."""

    forward: int
    backward: int
    recompute: int
    operations: dict[str, int]
    unknown: list[str]  # look like matrix products and were not counted; none is right


class Names(TorchDispatchMode):
    """Notes which operations ran."""

    def __init__(self):
        super().__init__()
        self.operations = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.operations.add(func.overloadpacket)
        return func(*args, **(kwargs or {}))


def attention_flops(q, k, v, *_, **__):
    """Two products: queries with keys, weights with values."""
    batch, heads, length, width = q
    return 2 * batch * heads * length * k[2] * (width + v[3])


def attention_backward_flops(_grad, q, k, v, *_, **__):
    """Five products: the scores again, and the gradients of values, weights, queries and keys."""
    batch, heads, length, width = q
    return 2 * batch * heads * length * k[2] * (3 * width + 2 * v[3])


FLASH = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
MISSING = {
    FLASH: attention_flops,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: attention_backward_flops,
}


def counted_flops(spec, recipe, missing=MISSING):
    """Run one micro-batch; every pair of tokens counts, also those that the causal mask hides."""
    prepared = PreparedStep(spec, replace(recipe, optimizer="sgd")).checkpointed()
    counter = FlopCounterMode(display=False, custom_mapping=missing)
    with Names() as seen, counter:
        loss = prepared.forward()
        forward = counter.get_total_flops()
        loss.backward()
    backward = once = counter.get_total_flops() - forward
    if recipe.checkpointing != "none" or recipe.loss_chunks > 1:
        plain = replace(recipe, checkpointing="none", loss_chunks=1)
        once = counted_flops(spec, plain, missing).backward
    operations = {str(each): n for each, n in counter.get_flop_counts()["Global"].items()}
    names = {str(each) for each in seen.operations - flop_registry.keys() - missing.keys()}
    words = {name: name.rpartition(".")[2].strip("_").split("_") for name in names}
    unknown = sorted(name for name in names if PRODUCT_WORDS.intersection(words[name]))
    return Counted(forward, once, backward - once, operations, unknown)


def saved_bytes_per_layer(spec, recipe):
    """Return the bytes that one more layer leaves after the forward pass, what is kept once apart.

    With experts it is a layer with experts; with "every_k" the mean over one run of k layers.
    """
    step = recipe.checkpoint_every if recipe.checkpointing == "every_k" else 1
    mixture = spec.mixture and replace(spec.mixture, num_dense_layers=0)
    kept = []
    # two runs of layers first: with adapters the first layer keeps less than all others
    for layers in (2 * step, 3 * step):
        windowed = min(spec.num_windowed_layers, layers)
        short = replace(spec, num_layers=layers, num_windowed_layers=windowed, mixture=mixture)
        kept.append(saved_bytes(short, recipe))
    return (kept[1] - kept[0]) // step


def saved_bytes(spec, recipe):
    """Return the bytes that a whole forward pass leaves, autocast's copies in it."""
    prepared = PreparedStep(spec, replace(recipe, optimizer="sgd")).checkpointed()
    tracker = StorageTracker()
    for tensors in prepared.persistent().values():
        tracker.ignore(tensors)
    with tracker:
        loss = prepared.forward()
    num_bytes = tracker.live
    del loss
    return num_bytes


MIXTURE = Mixture(num_experts=4, experts_per_token=2, expert_dim=64, num_shared=1)
LATENT = LatentAttention(query_rank=32, kv_rank=16, nope_dim=16, rope_dim=8, value_dim=16)


def test_no_product_goes_uncounted_in_any_kind_of_model_and_profile():
    for spec in (LLAMA, GPT2, replace(LLAMA, mixture=MIXTURE), replace(LLAMA, latent=LATENT)):
        for profile in KERNELS:
            counted = counted_flops(spec, recipe(profile=profile, seq_len=16))
            assert counted.unknown == [], (spec, profile)
            assert counted.recompute == 0


def test_an_uncounted_product_would_be_named():
    counted = counted_flops(LLAMA, recipe(seq_len=16), missing={})
    names = [f"aten._scaled_dot_product_flash_attention_for_cpu{end}" for end in ("", "_backward")]
    assert counted.unknown == names


def test_matrix_products_cost_two_flops_a_weight_and_token_and_twice_that_back():
    counted = counted_flops(LLAMA, recipe())
    num_tokens, width = 128, LLAMA.hidden_dim
    heads = LLAMA.num_heads * 2 + LLAMA.num_kv_heads * 2
    layer = width * LLAMA.head_dim * heads + 3 * width * LLAMA.ffn_dim
    products = 2 * num_tokens * (LLAMA.num_layers * layer + width * LLAMA.vocab_size)
    attention = LLAMA.num_layers * 4 * num_tokens * 64 * LLAMA.num_heads * LLAMA.head_dim
    assert counted.forward == products + attention
    assert counted.backward == 2 * products + 5 * attention // 2
    assert sum(counted.operations.values()) == counted.forward + counted.backward


def test_registered_attention_counts_as_torchs_own_gpu_attention():
    x = torch.empty(2, 4, 64, 32, device="meta")
    cpu = attention_flops(x.shape, x.shape, x.shape)
    assert cpu == flop_registry[torch.ops.aten._scaled_dot_product_flash_attention](x, x, x)


def recipe_in_bf16(**changes) -> TrainingRecipe:
    return TrainingRecipe(precision="pure_bf16", profile="hf_eager", **changes)


def test_a_llama_layer_keeps_the_bytes_of_the_published_closed_form():
    # reference/budget.md C.3: T (20 h + 4 kv d + 8 f + 4 a + 8), to 64 bytes
    for key in ("llama-2-7b", "llama-3.1-8b", "llama-3.2-1b"):
        spec = MODELS[key]
        per_token = (
            20 * spec.hidden_dim
            + 4 * spec.num_kv_heads * spec.head_dim
            + 8 * spec.ffn_dim
            + 4 * spec.num_heads
            + 8
        )
        assert abs(saved_bytes_per_layer(spec, recipe_in_bf16(seq_len=512)) - 512 * per_token) <= 64


def test_korthikantis_layer_is_34_sbh_and_5_as2b():
    spec = replace(MODELS["gpt2"], name="a GPT layer")
    for seq_len in (128, 512):
        kept = saved_bytes_per_layer(
            spec, TrainingRecipe(precision="pure_bf16", profile="megatron", seq_len=seq_len)
        )
        published = 34 * seq_len * spec.hidden_dim + 5 * spec.num_heads * seq_len**2
        assert abs(kept / published - 1) < 0.005, seq_len
