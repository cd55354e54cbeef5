"""The page's numbers as plain torch, to run anywhere."""

from typing import Final

from core.models.initialisation import SCHEMES, Stack
from core.models.layer_zoo import LAYERS, TOKENS, VOCABULARY, Visit
from core.models.small import SMALL
from core.models.spec import GPTShape, ModelSpec
from pages.models.layers_and_parameters.inputs import Case

_GPT: Final = """
import torch
from torch import nn

V, C, L, T = {vocab_size}, {hidden_dim}, {num_layers}, {seq_len}


def linear(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)


def block():
    return nn.ModuleDict({{
        "norm_1": nn.LayerNorm(C, bias=False), "qkv": linear(C, 3 * C), "out": linear(C, C),
        "norm_2": nn.LayerNorm(C, bias=False), "up": linear(C, 4 * C), "down": linear(4 * C, C),
    }})


with torch.device("meta"):  # shapes without data: nothing is allocated
    model = nn.ModuleDict({{
        "tokens": nn.Embedding(V, C), "positions": nn.Embedding(T, C),
        "blocks": nn.ModuleList(block() for _ in range(L)),
        "norm": nn.LayerNorm(C, bias=False), "head": linear(C, V),
    }})
model["head"].weight = model["tokens"].weight  # tied: counted once
"""
_SMALL: Final = """
import torch
from torch import nn

model = {code}
"""
_SPEC: Final = """
from core.models.build import build_model
from core.models.spec import LatentAttention, Mixture, ModelSpec

model = build_model({spec!r})
"""
_COUNT: Final = 'print(f"{sum(each.numel() for each in model.parameters()):,}")\n'
_NAMES: Final = """
for name, parameter in model.named_parameters():
    print(f"{name:36} {tuple(parameter.shape)!s:18} {parameter.numel():>14,}")
"""
_LORA: Final = """
import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha=16):
        super().__init__()
        self.base, self.scale = base.requires_grad_(False), alpha / rank
        self.lora_a = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + (x @ self.lora_a.T @ self.lora_b.T) * self.scale


base, x = nn.Linear(768, 768), torch.randn(4, 768)
adapted = LoRALinear(base, rank={rank})
print("same output:", torch.equal(base(x), adapted(x)))
print("trainable:", sum(each.numel() for each in adapted.parameters() if each.requires_grad))
"""
_LAYER: Final = """
import torch
from torch import nn

torch.manual_seed(0)
layer = {code}
x = {x}
inputs = (x, x, x) if isinstance(layer, nn.MultiheadAttention) else (x,)
for mode in (layer.eval, layer.train):
    mode()
    try:
        out = layer(*inputs)
        print(mode.__name__, tuple((out[0] if isinstance(out, tuple) else out).shape))
    except ValueError as error:
        print(mode.__name__, error)
"""
_SPREAD: Final = """
import torch
from torch import nn

torch.manual_seed(0)
num_layers, fan_in = {num_layers}, {width}
h = torch.randn(64, fan_in)
for layer in range(num_layers):
    w = torch.empty(fan_in, fan_in)
    {draw}
    out = {activation}
    h = {step}
print(f"std {{h.std():.3g}} after {{num_layers}} layers")
"""
_ACTIVATIONS: Final = {
    "none": "h @ w.T",
    "relu": "torch.relu(h @ w.T)",
    "tanh": "torch.tanh(h @ w.T)",
    "gelu": "nn.functional.gelu(h @ w.T)",
}
_PRODUCT: Final = """
import torch

torch.manual_seed(0)
x, w = torch.randn(64, {fan_in}), torch.randn({fan_in}, 32)
print((x @ w).std().item(), (x @ w / {fan_in}**0.5).std().item())
"""
_BOUND: Final = """
import torch
from torch import nn

torch.manual_seed(0)
std = {fan_in}**-0.5
w = nn.init.trunc_normal_(torch.empty(1000, 1000), std=std, a=-{bound}, b={bound})
print(f"largest {{(w.abs().max() / std).item():.3f}} standard deviations")
"""
_TRACED: Final = """
import torch
from torch.fx.experimental.proxy_tensor import make_fx


def f(x):
    if x.shape[0] > 2:
        return x * 2
    return x - 1


graph = make_fx(f)(torch.ones({rows}))
print(graph.code.strip())
for rows in range(1, 6):
    print(rows, f(torch.ones(rows))[0].item(), graph(torch.ones(rows))[0].item())
"""
DIFFERENCES: Final = """
import numpy as np
import torch

x = torch.tensor([3.0], requires_grad=True)
(x**2).backward()
print("gradient:", x.grad)
print("device:", torch.zeros(3, device="meta").device)
print("bfloat16:", torch.tensor([0.1], dtype=torch.bfloat16))
print("default dtypes:", np.array([0.1]).dtype, torch.tensor([0.1]).dtype)
print(torch.fx.symbolic_trace(lambda x: torch.sin(x)).graph)
for attempt in (
    lambda: (np.array([3.0]) ** 2).backward(),
    lambda: np.zeros(3, device="meta"),
    lambda: np.array([0.1]).astype(np.bfloat16),
):
    try:
        attempt()
    except (AttributeError, TypeError, ValueError) as error:
        print(type(error).__name__, error)
"""


def tree_snippet(case: Case) -> str:
    """Return Python that builds the model and counts it."""
    return _model(case) + _COUNT


def names_snippet(case: Case) -> str:
    """Return Python that lists every name with its shape."""
    return _model(case) + _NAMES


def _model(case: Case) -> str:
    source = case.source
    if isinstance(source, GPTShape):
        return _GPT.format(
            vocab_size=source.vocab_size,
            hidden_dim=source.hidden_dim,
            num_layers=source.num_layers,
            seq_len=source.seq_len,
        )
    if isinstance(source, ModelSpec):
        return _SPEC.format(spec=source)
    return _SMALL.format(code=SMALL[source].code)


def lora_snippet(rank: int) -> str:
    """Return Python that shows that a new adapter changes nothing."""
    return _LORA.format(rank=rank)


def layer_snippet(name: str, chosen: Visit) -> str:
    """Return Python that runs the layer in both modes."""
    shape = chosen.input_shape
    x = f"torch.randint({VOCABULARY}, ({shape[0]}, {TOKENS}))" if name == "Embedding" else ""
    return _LAYER.format(code=LAYERS[name].code, x=x or f"torch.randn{shape}")


def product_snippet(fan_in: int) -> str:
    """Return Python that measures the spread of one product."""
    return _PRODUCT.format(fan_in=fan_in)


def bound_snippet(fan_in: int, *, in_sigmas: bool) -> str:
    """Return Python that draws a truncated normal and looks for its largest value."""
    return _BOUND.format(fan_in=fan_in, bound="3 * std" if in_sigmas else "3")


def stack_snippet(stack: Stack) -> str:
    """Return Python that measures the spread after the last layer."""
    return _SPREAD.format(
        num_layers=stack.num_layers,
        width=stack.width,
        draw=SCHEMES[stack.scheme].code,
        activation=_ACTIVATIONS[stack.activation],
        step="h + out" if stack.residual else "out",
    )


def traced_snippet(rows: int) -> str:
    """Return Python that traces the function and runs both."""
    return _TRACED.format(rows=rows)
