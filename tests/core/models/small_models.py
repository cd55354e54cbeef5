"""Models of both kinds with every switch, whose attention decides: fresh weights are too small."""

from dataclasses import replace

import torch
from torch import nn

from core.models import GPTShape
from core.models.build import build_model
from core.models.gpt import GPT
from core.models.spec import ModelSpec

SHAPE = GPTShape(num_layers=3, hidden_dim=24, num_heads=4, vocab_size=31, seq_len=16)
LLAMA = ModelSpec(
    name="small Llama", num_layers=2, hidden_dim=24, num_heads=4, num_kv_heads=2, head_dim=6,
    ffn_dim=40, vocab_size=31, seq_len=16,
)  # fmt: skip
SPECS = {
    "gqa": LLAMA,
    "mha": replace(LLAMA, num_kv_heads=4),
    "mqa": replace(LLAMA, num_kv_heads=1),
    "qk_norm": replace(LLAMA, qk_norm=True),
    "qkv_bias": replace(LLAMA, attention_bias="qkv"),
    "norms_on_both_sides": replace(LLAMA, norms_per_layer=4),
    "gpt2": replace(
        LLAMA, num_kv_heads=4, tied=True, gated=False, norm="layer", norm_bias=True,
        attention_bias="all", ffn_bias=True, learned_positions=16,
    ),
}  # fmt: skip


def small_model(name: str, dtype: torch.dtype = torch.float32) -> nn.Module:
    """Return a GPT, or the Decoder of a row of `SPECS`."""
    torch.manual_seed(0)
    if name == "gpt":
        model = GPT(SHAPE).to(dtype)
    else:
        model = build_model(SPECS[name], "cpu", device="cpu", dtype=dtype)
    with torch.no_grad():
        for each in model.parameters():
            each.add_(0.3 * torch.randn_like(each))
    return model


def some_ids(num_tokens: int, batch: int = 1) -> torch.Tensor:
    """Return token ids of the vocabulary, always the same."""
    return torch.randint(31, (batch, num_tokens), generator=torch.Generator().manual_seed(1))
