"""Show the code: mixed precision in plain torch, and any other comparison as the page runs it."""

from typing import Final

from core.train.recipes.choices import Comparison

_MIXED: Final = """
import torch
from torch import nn
from torch.nn.functional import cross_entropy

ids = torch.randint(0, 64, (16, 65), generator=torch.Generator().manual_seed(0))
inputs, targets = ids[:, :-1], ids[:, 1:].flatten()

def new_model():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True)
    return nn.Sequential(nn.Embedding(64, 64), layer, nn.Linear(64, 64))

def loss_of(model, dtype):
    with torch.autocast("cpu", dtype, enabled=dtype != torch.float32):  # the forward pass alone
        return cross_entropy(model(inputs).flatten(0, 1), targets)

# autocast in bf16: weights, gradients and moments stay fp32; no scaler
model = new_model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(20):
    optimizer.zero_grad()
    loss_of(model, torch.bfloat16).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
print("bf16:", model[2].weight.dtype, model[2].weight.grad.dtype)

# autocast in fp16: small gradients would be 0, so the loss is scaled up before backward
model = new_model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu")
for step in range(20):
    optimizer.zero_grad()
    scaler.scale(loss_of(model, torch.float16)).backward()
    scaler.unscale_(optimizer)  # before clipping: the norm is that of the real gradients
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)  # leaves the weights alone if a gradient is not finite
    scaler.update()
print("fp16: loss scale", scaler.get_scale())

# What autocast saves: the bytes kept for the backward pass, each model alone in memory
for dtype in (torch.float32, torch.bfloat16):
    model, kept = new_model(), {}
    weights = {weight.data_ptr() for weight in model.parameters()}
    def keep(tensor):
        if tensor.data_ptr() not in weights:
            kept[tensor.data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = loss_of(model, dtype)
    fixed = sum(weight.nbytes for weight in model.parameters())
    print(f"{dtype}: weights {fixed:,} bytes, kept for backward {sum(kept.values()):,} bytes")
"""
_RACE: Final = """
from core.train.recipes.choices import Comparison
from core.train.recipes.results import run_race

comparison = Comparison(
    axis={axis!r}, values={values!r}, num_steps={steps}, base={base!r},
)
for results in run_race(comparison):  # trains in a process of its own
    print(*(result.num_steps for result in results), end="\\r")
for name, result in zip(comparison.names, results):
    print(f"{{name}}: loss {{result.last:.3f}}, {{result.peak:,}} bytes")
"""


def code_of(comparison: Comparison) -> str:
    """Return Python that does what is compared."""
    if comparison.axis == "precision":
        return _MIXED
    return _RACE.format(
        axis=comparison.axis, values=comparison.values, steps=comparison.num_steps,
        base=comparison.base,
    )  # fmt: skip
