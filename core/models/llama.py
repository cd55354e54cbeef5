"""A small Llama-like model that trains where our GPT does, built from the parts of the catalogue.

RMSNorm, rotary positions, SwiGLU and grouped key heads (Touvron et al. 2023), a tied head.

Shape letters: B batch, T tokens of context, C hidden width, V vocabulary.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  the field's own name

from core.models.build import Decoder
from core.models.gpt import INIT_STD, computed_again
from core.models.kernels import KERNELS
from core.models.kv_cache import KVCache
from core.models.spec import GPTShape, ModelSpec


class Llama(Decoder):
    """Token ids in, logits or the mean loss out, as `core.models.gpt.GPT`.

    Args:
        spec: The sizes.
        attention_in_fp32: Leave bfloat16 autocast for the attention product (faster on CPUs).
        dropout: Share of what each half of a block adds that training sets to zero.
        checkpointing: Whether the backward pass computes each block's activations again.
    """

    def __init__(
        self,
        spec: ModelSpec,
        *,
        attention_in_fp32: bool = False,
        dropout: float = 0.0,
        checkpointing: bool = False,
    ) -> None:
        attend = attend_in_fp32 if attention_in_fp32 else attend_causally
        kernels = replace(KERNELS["cpu"], attend=attend)
        if dropout:
            kernels = replace(kernels, dropout=nn.Dropout(dropout))
        super().__init__(spec, kernels)
        self.dropout, self.checkpointing = dropout, checkpointing
        self.shape = GPTShape(**{name: getattr(spec, name) for name in GPTShape.__slots__})
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, mean=0.0, std=INIT_STD)

    def hidden(self, token_ids: Tensor) -> Tensor:
        """Return what the head reads: (B, T) ids to (B, T, C)."""
        if not (self.checkpointing and torch.is_grad_enabled()):
            return super().hidden(token_ids)
        x, rotary = self.embed(token_ids)
        for block in self.blocks:
            x = computed_again(block, x, rotary, dropout=self.dropout)
        normed: Tensor = self.norm(x)
        return normed

    def logits(self, token_ids: Tensor, cache: KVCache | None = None) -> Tensor:  # noqa: ARG002
        """Return the scores of every next token: (B, T) ids to (B, T, V).

        It leaves the cache empty, so that who writes with one computes the whole text each time.
        """
        return super().logits(token_ids)


def attend_causally(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Let each token look back, by torch's kernel of the device; shapes as `Kernels.attend`."""
    is_grouped = q.shape[1] != k.shape[1]
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=is_grouped)


def attend_in_fp32(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Do the same outside autocast: on CPUs bfloat16's backward pass is several times slower."""
    with torch.autocast(q.device.type, enabled=False):
        return attend_causally(q.float(), k.float(), v.float())
