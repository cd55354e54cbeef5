"""One forward pass of a GPT, and what each module of it was given and gave back.

Hooks would fire for every reader who uses the same model at that moment; so they are put on a copy
of the modules, which shares the weights.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from einops import rearrange
from torch import Tensor

from core.models.gpt import GPT

TokenIds = Sequence[int] | Tensor  # (T,) or (B, T)


@dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    """What passed the modules, by the names of these."""

    model: GPT  # a copy, of the same weights, in evaluation mode
    token_ids: Tensor  # (B, T)
    logits: Tensor  # (B, T, V)
    arguments: dict[str, tuple[Any, ...]]
    outputs: dict[str, Tensor]

    def given(self, module: str) -> Tensor:
        """Return the tensor that a module was given."""
        tensor: Tensor = self.arguments[module][0]
        return tensor

    def residuals(self) -> list[Tensor]:
        """Return the residual stream after the embedding and after each block; each (B, T, C)."""
        num_blocks = len(self.model.blocks)
        return [self.given(f"blocks.{i}") for i in range(num_blocks)] + [self.given("norm")]

    def attended(self, layer: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return the q, k and v that attention read in a layer, each (B, H, T, D)."""
        packed = self.outputs[f"blocks.{layer}.attention.qkv"]
        heads = self.model.shape.num_heads
        q, k, v = rearrange(packed, "B T (three H D) -> three B H T D", three=3, H=heads)
        return q, k, v


@torch.no_grad()
def record(model: GPT, token_ids: TokenIds) -> Recording:
    """Run a model once on (T,) or (B, T) token ids and return what passed its modules."""
    ids = torch.as_tensor(token_ids, device=model.tokens.weight.device)
    ids = ids if ids.dim() == 2 else ids.unsqueeze(0)
    shared = {id(each): each for each in (*model.parameters(), *model.buffers())}
    own = copy.deepcopy(model, shared).eval()
    arguments: dict[str, tuple[Any, ...]] = {}
    outputs: dict[str, Tensor] = {}
    for name, module in own.named_modules():
        module.register_forward_hook(partial(_keep, name, arguments, outputs))
    logits = own.logits(ids)
    return Recording(model=own, token_ids=ids, logits=logits, arguments=arguments, outputs=outputs)


def _keep(
    name: str,
    arguments: dict[str, tuple[Any, ...]],
    outputs: dict[str, Tensor],
    *call: Any,  # noqa: ANN401  module, what it was given, what it gave back
) -> None:
    _module, arguments[name], outputs[name] = call
