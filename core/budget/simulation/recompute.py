"""Activation checkpointing: what is thrown away in the forward pass is computed again."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
    noop_context_fn,
)

from core.budget.recipe import TrainingRecipe
from core.models.build import Block, Decoder
from core.models.kernels import Kernels
from core.models.llama import Rotary

Watch = Callable[[], AbstractContextManager[None]]

_aten = torch.ops.aten
_KEPT: Final = (
    _aten.mm.default,
    _aten.addmm.default,
    _aten.bmm.default,
    _aten._scaled_dot_product_flash_attention.default,
    _aten._scaled_dot_product_flash_attention_for_cpu.default,
)
"""What "selective" keeps: the outputs of matrix products and of attention (as torchtitan does)."""


class Recomputed(nn.Module):
    """Blocks of which only the input is kept (Chen et al. 2016); `watch` surrounds the rerun."""

    def __init__(self, blocks: Sequence[nn.Module], watch: Watch, *, selective: bool) -> None:
        super().__init__()
        self.blocks, self.watch = nn.ModuleList(blocks), watch
        self.contexts: Callable[[], Any] | None = _keep_products if selective else None

    def forward(self, x: Tensor, rotary: Rotary | None) -> Tensor:
        """Return the residual stream after these blocks."""
        return _again(self._run, self.watch, self.contexts, x, rotary)

    def _run(self, x: Tensor, rotary: Rotary | None) -> Tensor:
        for block in self.blocks:
            x = block(x, rotary)
        return x


def use_checkpointing(model: Decoder, recipe: TrainingRecipe, watch: Watch = nullcontext) -> None:
    """Make the model recompute as the recipe says.

    "selective" with the profile "megatron" recomputes the attention core alone, as Korthikanti et
    al. 2022, section 5; with the others it keeps the outputs of matrix products and attention.
    """
    if recipe.checkpointing == "none":
        return
    blocks = list(model.blocks)
    if recipe.checkpointing == "selective" and recipe.profile == "megatron":
        for block in blocks:
            _recompute_attention(block, watch)
        return
    width = recipe.checkpoint_every if recipe.checkpointing == "every_k" else 1
    runs = [blocks[i : i + width] for i in range(0, len(blocks), width)]
    selective = recipe.checkpointing == "selective"
    model.blocks = nn.ModuleList(Recomputed(run, watch, selective=selective) for run in runs)


def _recompute_attention(block: nn.Module, watch: Watch) -> None:
    assert isinstance(block, Block)  # noqa: S101  the decoder makes no others
    kernels: Kernels = block.attention.kernels
    attend = partial(_again, kernels.attend, watch, None)
    block.attention.kernels = replace(kernels, attend=attend)


def _again(
    function: Callable[..., Tensor],
    watch: Watch,
    contexts: Callable[[], Any] | None,
    *inputs: Tensor | Rotary | None,
) -> Tensor:
    runs = 0

    def run(*arguments: Tensor | Rotary | None) -> Tensor:
        nonlocal runs
        runs += 1
        with nullcontext() if runs == 1 else watch():
            return function(*arguments)

    out: Tensor = checkpoint(
        run,
        *inputs,
        use_reentrant=False,
        preserve_rng_state=False,
        context_fn=contexts or noop_context_fn,
    )
    return out


def _keep_products() -> Any:  # noqa: ANN401  torch's pair of contexts
    return create_selective_checkpoint_contexts(_policy)


def _policy(_context: object, operation: object, *_: object, **__: object) -> CheckpointPolicy:
    kept = operation in _KEPT
    return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE
