"""A GPT-2-like language model, short enough to read in class.

Pre-LN blocks, learned positions, GELU, a head tied to the token embedding, no biases in the
matrices. Initialised as GPT-2: N(0, 0.02), and residual projections smaller by sqrt(2 * layers),
so that the residual stream does not grow with depth (Radford et al. 2019, section 2.3).

Shape letters: B batch, T tokens of context, C hidden width, H heads, D head width, V vocabulary.
"""

import math

import torch
from einops import rearrange
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  the field's own name
from torch.utils.checkpoint import checkpoint

from core.models.kv_cache import KVCache
from core.models.spec import GPTShape

INIT_STD = 0.02


class Attention(nn.Module):
    """Causal self-attention: every token looks at itself and at what came before."""

    def __init__(self, shape: GPTShape, *, attention_in_fp32: bool) -> None:
        super().__init__()
        self.num_heads = shape.num_heads
        self.attention_in_fp32 = attention_in_fp32
        self.qkv = nn.Linear(shape.hidden_dim, 3 * shape.hidden_dim, bias=False)
        self.out = nn.Linear(shape.hidden_dim, shape.hidden_dim, bias=False)

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Tensor:
        """Mix tokens; x and the result are (B, T, C). Tokens in the cache came before them."""
        q, k, v = rearrange(
            self.qkv(x), "B T (three H D) -> three B H T D", three=3, H=self.num_heads
        )  # each (B, H, T, D)
        if cache is not None:
            k, v = cache.extend(self, k, v)  # from here on those of all tokens
        mixed = self._attend(q, k, v)  # (B, H, T, D)
        projected: Tensor = self.out(rearrange(mixed, "B H T D -> B T (H D)"))  # (B, T, C)
        return projected

    def _attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        if not self.attention_in_fp32:
            return attend_causally(q, k, v)
        # On CPUs the backward pass of bfloat16 attention is several times slower than float32's.
        with torch.autocast(q.device.type, enabled=False):
            return attend_causally(q.float(), k.float(), v.float())


def attend_causally(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Let the last tokens, q (B, H, N, D), look at all up to themselves, k and v (B, H, T, D)."""
    num_new, num_tokens = q.shape[2], k.shape[2]  # N, T
    if num_new in {1, num_tokens}:  # a single new token sees all
        return F.scaled_dot_product_attention(q, k, v, is_causal=num_new == num_tokens)
    # is_causal would line the first new token up with the first of all.
    ones = torch.ones(num_new, num_tokens, dtype=torch.bool, device=q.device)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=ones.tril(num_tokens - num_new))


class FeedForward(nn.Module):
    """Two matrices with a GELU between: every token thinks for itself."""

    def __init__(self, shape: GPTShape) -> None:
        super().__init__()
        self.up = nn.Linear(shape.hidden_dim, shape.ffn_dim, bias=False)
        self.out = nn.Linear(shape.ffn_dim, shape.hidden_dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Transform each token; x and the result are (B, T, C)."""
        result: Tensor = self.out(F.gelu(self.up(x)))  # (B, T, C) -> (B, T, 4C) -> (B, T, C)
        return result


class Block(nn.Module):
    """One layer: attention, then feed-forward, each added to the residual stream."""

    def __init__(self, shape: GPTShape, *, attention_in_fp32: bool, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout
        self.norm_1 = nn.LayerNorm(shape.hidden_dim, bias=False)
        self.attention = Attention(shape, attention_in_fp32=attention_in_fp32)
        self.norm_2 = nn.LayerNorm(shape.hidden_dim, bias=False)
        self.feed_forward = FeedForward(shape)

    def forward(self, x: Tensor, cache: KVCache | None = None) -> Tensor:
        """Return the residual stream after this layer; (B, T, C) in and out."""
        x = x + self._drop(self.attention(self.norm_1(x), cache))
        result: Tensor = x + self._drop(self.feed_forward(self.norm_2(x)))
        return result

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout) if self.dropout and self.training else x


class GPT(nn.Module):
    """The whole model: token ids in, logits or the mean loss out.

    Args:
        shape: The sizes.
        attention_in_fp32: Leave bfloat16 autocast for the attention product (faster on CPUs).
        dropout: Share of what each half of a block adds that training sets to zero.
        checkpointing: Whether the backward pass computes each block's activations again.
    """

    def __init__(
        self,
        shape: GPTShape,
        *,
        attention_in_fp32: bool = False,
        dropout: float = 0.0,
        checkpointing: bool = False,
    ) -> None:
        super().__init__()
        self.shape, self.dropout, self.checkpointing = shape, dropout, checkpointing
        self.tokens = nn.Embedding(shape.vocab_size, shape.hidden_dim)
        self.positions = nn.Embedding(shape.seq_len, shape.hidden_dim)
        self.blocks = nn.ModuleList(
            Block(shape, attention_in_fp32=attention_in_fp32, dropout=dropout)
            for _ in range(shape.num_layers)
        )
        self.norm = nn.LayerNorm(shape.hidden_dim, bias=False)
        self.head = nn.Linear(shape.hidden_dim, shape.vocab_size, bias=False)
        self.head.weight = self.tokens.weight  # tied: one matrix reads and writes tokens
        self.initialise()

    def initialise(self) -> None:
        """Draw every weight anew: N(0, 0.02), residual projections smaller by sqrt(2 * layers)."""
        residual_std = INIT_STD / math.sqrt(2 * self.shape.num_layers)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                std = residual_std if name.endswith("out.weight") else INIT_STD
                nn.init.normal_(weight, mean=0.0, std=std)

    def logits(self, token_ids: Tensor, cache: KVCache | None = None) -> Tensor:
        """Return the scores of every next token: (B, T) ids to (B, T, V).

        Args:
            token_ids: The text; with a cache only what it has not read yet, which it then has.
            cache: Of this text. Up to rounding the scores are those without it.

        Raises:
            ValueError: If the text is longer than the context.
        """
        start = cache.num_tokens if cache is not None else 0
        end = start + token_ids.shape[1]
        if end > self.shape.seq_len:
            raise ValueError(
                f"{end} tokens do not fit into a context of {self.shape.seq_len}; "
                f"pass at most {self.shape.seq_len}."
            )
        positions = torch.arange(start, end, device=token_ids.device)  # (T,)
        x = self.tokens(token_ids) + self.positions(positions)  # (B, T, C)
        for block in self.blocks:
            if self.checkpointing and torch.is_grad_enabled() and cache is None:
                x = computed_again(block, x, None, dropout=self.dropout)
            else:
                x = block(x, cache)
        scores: Tensor = self.head(self.norm(x))  # (B, T, V)
        return scores

    def forward(self, token_ids: Tensor, targets: Tensor) -> Tensor:
        """Return the mean cross-entropy in nats; both inputs are (B, T) token ids."""
        logits = self.logits(token_ids)
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def computed_again(block: nn.Module, *inputs: object, dropout: float) -> Tensor:
    """Return what a block makes of its inputs; only they are kept for the backward pass.

    There the block is computed again, with the same chance if there is dropout (Chen et al. 2016).
    """
    result: Tensor = checkpoint(block, *inputs, use_reentrant=False, preserve_rng_state=dropout > 0)
    return result
