"""What a recipe changes in a model before its step: adapters, autocast, what is computed again."""

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn import functional as F  # noqa: N812  the field's own name
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
    noop_context_fn,
)

from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.weights.stored import quantized_weights
from core.dtypes.blocks.block_formats import BLOCK_FORMATS
from core.dtypes.number_formats.table import FORMATS
from core.models.attention import Rotary
from core.models.build import Block, Decoder
from core.models.feed_forward import MixtureOfExperts
from core.models.kernels import GELU_SCALE, Kernels, eager_gelu

Watch = Callable[[], AbstractContextManager[None]]
SCALE: Final = 2.0  # alpha / rank: a Python number, so nothing is kept for it

_aten = torch.ops.aten
_KEPT: Final = (
    _aten.mm.default,
    _aten.addmm.default,
    _aten.bmm.default,
    _aten.baddbmm.default,
    _aten._scaled_dot_product_flash_attention.default,
    _aten._scaled_dot_product_flash_attention_for_cpu.default,
)
"""What "selective" keeps: the outputs of matrix products and of attention (as torchtitan does)."""


class Adapted(nn.Module):
    """base(x) + scale * B(A(x)) with a frozen base (Hu et al. 2021)."""

    def __init__(self, base: nn.Module, down: nn.Linear, up: nn.Linear) -> None:
        super().__init__()
        self.base, self.down, self.up = base, down, up

    def forward(self, x: Tensor) -> Tensor:
        """Transform the last axis."""
        result: Tensor = self.base(x) + SCALE * self.up(self.down(x))
        return result


class Quantized(nn.Module):
    """A frozen matrix kept as codes and scales; every use writes it out in the compute dtype."""

    def __init__(self, linear: nn.Linear, base_format: str) -> None:
        super().__init__()
        fmt = BLOCK_FORMATS.get(base_format) or FORMATS[base_format]
        num_bytes = math.ceil(quantized_weights(linear.weight.numel(), fmt).amount)
        codes = torch.empty(num_bytes, dtype=torch.uint8, device=linear.weight.device)
        self.register_buffer("codes", codes)
        self.shape = linear.weight.shape
        self.bias: Tensor | None = linear.bias

    def forward(self, x: Tensor) -> Tensor:
        """Transform the last axis."""
        product: Tensor = _QuantizedProduct.apply(x, self.codes, self.shape)  # type: ignore[no-untyped-call]  # torch's own
        return product if self.bias is None else product + self.bias


class _QuantizedProduct(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, codes: Tensor, shape: torch.Size) -> Tensor:  # noqa: ANN401  torch's context
        ctx.codes, ctx.shape = codes, shape
        return F.linear(x, codes.new_empty(shape, dtype=x.dtype))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:  # noqa: ANN401  torch's context
        return grad @ ctx.codes.new_empty(ctx.shape, dtype=grad.dtype), None, None


def use_adapters(model: Decoder, lora: LoRA) -> None:
    """Freeze the model, store its blocks' matrices in the base format, adapt the targets.

    Experts, shared ones too, stay as they are.
    """
    model.requires_grad_(requires_grad=False)
    experts = [each for each in model.modules() if isinstance(each, MixtureOfExperts)]
    untouched = {id(part) for each in experts for part in each.modules()}
    for part in [each for each in model.blocks.modules() if id(each) not in untouched]:
        for name, child in list(part.named_children()):
            if isinstance(child, nn.Linear):
                setattr(part, name, _changed(name, child, lora))


def _changed(name: str, linear: nn.Linear, lora: LoRA) -> nn.Module:
    is_plain = lora.base_format in {"bfloat16", "float16", "float32"}
    base = linear if is_plain else Quantized(linear, lora.base_format)
    if name not in lora.targets:
        return base
    rows, columns = linear.weight.shape
    where = {"device": linear.weight.device, "dtype": linear.weight.dtype}
    down = nn.Linear(columns, lora.rank, bias=False, **where)
    return Adapted(base, down, nn.Linear(lora.rank, rows, bias=False, **where))


class CastLinear(nn.Module):
    """A linear layer under autocast."""

    def __init__(self, linear: nn.Linear, cache: dict[int, Tensor]) -> None:
        super().__init__()
        self.weight, self.cache = linear.weight, cache
        self.bias: Tensor | None = linear.bias

    def forward(self, x: Tensor) -> Tensor:
        """Transform the last axis, in bfloat16."""
        bias = None if self.bias is None else self._cast(self.bias)
        return F.linear(x.bfloat16(), self._cast(self.weight), bias)

    def _cast(self, weight: Tensor) -> Tensor:
        if torch._C._current_autograd_node() is not None:
            return weight.bfloat16()  # a rerun has a cache of its own, gone at its end
        if id(weight) not in self.cache:
            self.cache[id(weight)] = weight.bfloat16()
        return self.cache[id(weight)]


def use_autocast(model: Decoder) -> dict[int, Tensor]:
    """Run the model's matrix products in bf16; clear the returned cache after each forward pass."""
    cache: dict[int, Tensor] = {}
    for part in list(model.modules()):
        for name, child in list(part.named_children()):
            if isinstance(child, nn.Linear):
                setattr(part, name, CastLinear(child, cache))
    for block in model.blocks:
        assert isinstance(block, Block)  # noqa: S101  the decoder makes no others
        kernels = _under_autocast(block.attention.kernels)
        for part in (block.attention, block.feed_forward):
            setattr(part, "kernels", kernels)  # noqa: B010  torch types a part as any module
    return cache


def _under_autocast(kernels: Kernels) -> Kernels:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return kernels.attend(q.bfloat16(), k.bfloat16(), v.bfloat16())

    gelu = _wide_gelu if kernels.gelu is eager_gelu else kernels.gelu
    return replace(kernels, attend=attend, gelu=gelu)


def _wide_gelu(x: Tensor) -> Tensor:
    """`eager_gelu` with its power, and so all that follows, in fp32: pow is on autocast's list."""
    inner = GELU_SCALE * (x + 0.044715 * torch.pow(x.float(), 3.0))
    return 0.5 * x * (1.0 + torch.tanh(inner))


class Recomputed(nn.Module):
    """Blocks of which only the input is kept (Chen et al. 2016); `watch` surrounds the rerun."""

    def __init__(self, blocks: Sequence[nn.Module], watch: Watch, *, selective: bool) -> None:
        super().__init__()
        self.blocks, self.watch = nn.ModuleList(blocks), watch
        keeping_products = partial(create_selective_checkpoint_contexts, _policy)
        self.contexts: Callable[[], Any] | None = keeping_products if selective else None

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
            assert isinstance(block, Block)  # noqa: S101  the decoder makes no others
            kernels: Kernels = block.attention.kernels
            attend = partial(_again, kernels.attend, watch, None)
            block.attention.kernels = replace(kernels, attend=attend)
        return
    width = recipe.checkpoint_every if recipe.checkpointing == "every_k" else 1
    runs = [blocks[i : i + width] for i in range(0, len(blocks), width)]
    selective = recipe.checkpointing == "selective"
    model.blocks = nn.ModuleList(Recomputed(run, watch, selective=selective) for run in runs)


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


def _policy(_context: object, operation: object, *_: object, **__: object) -> CheckpointPolicy:
    kept = operation in _KEPT
    return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE
