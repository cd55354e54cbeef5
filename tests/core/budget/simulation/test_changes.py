"""Adapters, autocast and checkpointing: what they change in a model, and what they leave."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from core.budget.recipe import LoRA
from core.budget.simulation.changes import use_autocast, use_checkpointing
from core.budget.simulation.step import simulate_step
from core.budget.simulation.timeline import BACKWARD, GRADIENT
from core.models.build import build_model
from tests.core.budget.simulation.test_counts import saved_bytes_per_layer
from tests.core.budget.simulation.test_prepared import GPT2, LLAMA, recipe


def test_qlora_needs_less_than_lora_and_lora_less_than_training_all():
    lora, nf4 = LoRA(), LoRA(base_format="nf4")
    peaks = [
        simulate_step(LLAMA, recipe(profile="fused", precision="pure_bf16", lora=each)).peak
        for each in (None, lora, nf4)
    ]
    assert peaks[0] > peaks[1] > peaks[2]


def test_products_run_in_bf16_and_every_matrix_is_cast_once():
    model = build_model(LLAMA, "cpu", device="cpu")
    cache = use_autocast(model)
    ids = torch.zeros(1, 8, dtype=torch.int64)
    hidden = model.hidden(ids)
    logits = model.head(hidden)
    assert hidden.dtype == torch.float32  # the residual stream and the norms
    assert logits.dtype == torch.bfloat16
    assert len(cache) == 7 * LLAMA.num_layers + 1
    assert {each.dtype for each in cache.values()} == {torch.bfloat16}


def test_it_says_nearly_what_torchs_own_autocast_says():
    torch.manual_seed(0)
    model = build_model(LLAMA, "cpu", device="cpu")
    for block in model.blocks:  # torch's autocast knows attention by its public name
        block.attention.kernels = replace(block.attention.kernels, attend=_attend)
    ids = torch.randint(LLAMA.vocab_size, (2, 16))
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        theirs = model(ids, ids)
    use_autocast(model)
    with torch.no_grad():
        torch.testing.assert_close(model(ids, ids), theirs, rtol=0.01, atol=0.01)


def _attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)


def test_a_rerun_in_the_backward_pass_leaves_no_copies_behind():
    full = simulate_step(LLAMA, recipe(precision="autocast_bf16", checkpointing="full"))
    last = max(i for i, each in enumerate(full.events) if each.phase == BACKWARD)
    copies = [each for each in full.holdings(last) if each.op == "aten._to_copy"]
    assert sum(each.times for each in copies if each.kind != GRADIENT) <= 1


def test_the_power_in_a_written_out_gelu_runs_in_fp32():
    # x, tanh and 1 + tanh in fp32, half of x and the product in bf16: 16 bytes a value, not 10
    fp32, cast = (
        saved_bytes_per_layer(GPT2, recipe(precision="autocast_bf16", profile=profile))
        for profile in ("fused", "hf_eager")
    )
    assert cast - fp32 == 128 * GPT2.ffn_dim * (16 - 4)


def _gradient(checkpointing: str) -> torch.Tensor:
    torch.manual_seed(0)
    model = build_model(LLAMA, "cpu", device="cpu")
    use_checkpointing(model, recipe(checkpointing=checkpointing, checkpoint_every=2))
    ids = torch.arange(32).view(2, 16)
    model(ids, ids).backward()
    assert model.tokens.weight.grad is not None
    return model.tokens.weight.grad


@pytest.mark.parametrize("checkpointing", ["selective", "full", "every_k"])
def test_recomputing_changes_no_gradient(checkpointing: str):
    torch.testing.assert_close(_gradient(checkpointing), _gradient("none"))


def test_megatrons_selective_mode_runs_the_attention_alone_again():
    model = build_model(LLAMA, "megatron", dtype=torch.bfloat16)
    runs = []

    class Watch:
        def __enter__(self) -> None:
            runs.append(1)

        def __exit__(self, *_: object) -> None:
            pass

    use_checkpointing(model, recipe(profile="megatron", checkpointing="selective"), Watch)
    assert len(model.blocks) == LLAMA.num_layers
    ids = torch.zeros(1, 8, dtype=torch.int64, device="meta")
    model(ids, ids).backward()
    assert len(runs) == LLAMA.num_layers
