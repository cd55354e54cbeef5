from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from core.budget.simulation.autocast import use_autocast
from core.models.build import build_model
from tests.core.budget.simulation.tiny import LLAMA


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
