"""LoRA and QLoRA: frozen matrices with small trained ones beside them."""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn import functional as F  # noqa: N812  the field's own name

from core.budget.quantized import quantized_weights
from core.budget.recipe import LoRA
from core.dtypes.blocks.block_formats import BLOCK_FORMATS
from core.dtypes.formats import FORMATS
from core.models.build import Decoder
from core.models.mixture import MixtureOfExperts

SCALE = 2.0  # alpha / rank: a Python number, so nothing is kept for it


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
