"""Mistakes made on purpose that no setting can make: in the model, the batch and the loop.

Break it switches them on. Each stands where people make it: what is wrong then is real.
"""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  the field's own name

from core.language import _
from core.models.gpt import GPT, Attention, Block
from core.train.config import MistakeName, TrainConfig
from core.train.learning.schedule import Positions, batch_positions

SMALL: Final = 1024
# What is wrong in the loop alone: the model and what it reads are healthy.
OF_THE_LOOP: Final[frozenset[MistakeName]] = frozenset({"no_zero_grad", "undivided", "no_eval"})


class LookingAhead(Attention):
    """Attention whose mask is off by one: each token also sees the next, which it is to predict."""

    def _attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        num_tokens = q.shape[2]
        ones = torch.ones(num_tokens, num_tokens, dtype=torch.bool, device=q.device)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=ones.tril(1))  # right: tril(0)


def spoil_model(model: nn.Module, mistake: MistakeName) -> None:
    """Make a model's mistake, if it is one of a model's.

    Raises:
        ValueError: If only a GPT can make it and the model is none.
    """
    if mistake not in {"normal_init", "leaky_mask"}:
        return
    gpt = model if isinstance(model, GPT) else None
    if gpt is None:
        raise ValueError(_("{mistake} is a mistake of our GPT; choose the family gpt.").format(
            mistake=mistake))  # fmt: skip
    if mistake == "normal_init":
        nn.init.normal_(gpt.tokens.weight)  # as nn.Embedding draws it; it is the head, too
        return
    for block in gpt.blocks:
        assert isinstance(block, Block)  # noqa: S101  GPT has made it
        healthy = block.attention
        with torch.device("meta"):  # its own weights are never drawn
            leaky = LookingAhead(gpt.shape, attention_in_fp32=healthy.attention_in_fp32)
        leaky.qkv, leaky.out = healthy.qkv, healthy.out
        block.attention = leaky


def divisor_of(config: TrainConfig) -> int:
    """Return what the loss of each accumulation pass is divided by before its backward pass."""
    if config.mistake == "undivided":
        return 1
    return config.accumulation_steps * (SMALL if config.mistake == "small_loss" else 1)


def starts_of(config: TrainConfig, step: int, num_tokens: int) -> Positions:
    """Return where a step's sequences begin: drawn, or one behind the other if none shuffles."""
    count = config.batch_size * config.accumulation_steps
    starts = batch_positions(config.seed, step, count, num_tokens, config.seq_len)
    if config.mistake != "unshuffled":
        return starts
    first = (step - 1) * count
    for place in range(count):
        starts[place] = (first + place) * config.seq_len % (num_tokens - config.seq_len)
    return starts
