"""The measurements as plain torch, to run anywhere."""

from typing import Final

from core.autograd.accumulation import Loss, Reset
from core.autograd.layer_stack import LAYERS, Stack
from pages.autograd.accumulation_and_recomputation.inputs import Case

_STACK: Final = """
import torch
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

B, D, L = {batch}, {width}, {layers}
torch.manual_seed(0)
weights = [(torch.randn(D, D) * (2 / D) ** 0.5).to(torch.{dtype}) for _ in range(L)]
x = torch.randn(B, D, dtype=torch.{dtype})
for tensor in [x, *weights]:
    tensor.requires_grad_()


def layers(h, weights):
    for w in weights:
        h = {code}
    return h

"""
_HELD: Final = """
def held_bytes(forward):
    alive_anyway = {each.untyped_storage().data_ptr() for each in [x, *weights]}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in alive_anyway:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with FlopCounterMode(display=False) as counter:
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            loss = forward(x).square().mean()
        held = sum(kept.values())
        loss.backward()
    return held, counter.get_total_flops()


def in_segments(h, k):
    for start in range(0, L, k):
        h = checkpoint(layers, h, weights[start : start + k], use_reentrant=False)
    return h


print("none", *held_bytes(lambda h: layers(h, weights)))
"""
_ONE: Final = 'print("{segment}", *held_bytes(lambda h: in_segments(h, {segment})))\n'
_ALL: Final = """
k = 1
while k <= L:
    print(k, *held_bytes(lambda h: in_segments(h, k)))
    k *= 2
"""
_COUNT: Final = """
import torch

x = torch.tensor(2.0, requires_grad=True)
for call in range(1, {calls} + 1):
{reset}    loss = {loss}
    loss.backward()
    print(call, x.grad.item())
"""
_RESET: Final = "    if call > 1 and (call - 1) % {every} == 0:\n        {code}\n"
_RESET_CODE: Final = {"zero": "x.grad.zero_()", "none": "x.grad = None"}
_LOSS_CODE: Final = {"square": "x**2", "multiples": "(call + 1) * x"}
_PIECES: Final = """
def gradients(pieces):
    for piece in x.detach().chunk(pieces):
        loss = layers(piece, weights).square().mean()
        (loss{divided}).backward()
    found = [w.grad.double() for w in weights]
    for w in weights:
        w.grad = None
    return torch.cat([each.flatten() for each in found])


whole, summed = gradients(1), gradients({pieces})
print(f"{{(summed.norm() / whole.norm()).item():.3g}} times the gradient of the whole batch")
print((whole - summed).abs().max().item(), "is the largest difference")
"""


def checkpointing_snippet(case: Case) -> str:
    return _stack(case.stack) + _HELD + _ONE.format(segment=case.segment)


def trade_off_snippet(stack: Stack) -> str:
    return _stack(stack) + _HELD + _ALL


def pieces_snippet(stack: Stack, num_pieces: int, *, is_divided: bool) -> str:
    divided = " / pieces" if is_divided else ""
    return _stack(stack) + _PIECES.format(pieces=num_pieces, divided=divided)


def counting_snippet(loss: Loss, reset: Reset, num_calls: int, every: int) -> str:
    code = _RESET.format(every=every, code=_RESET_CODE[reset]) if reset != "never" else ""
    return _COUNT.format(calls=num_calls, reset=code, loss=_LOSS_CODE[loss])


def _stack(stack: Stack) -> str:
    return _STACK.format(
        batch=stack.batch_size, width=stack.width, layers=stack.num_layers,
        dtype=stack.dtype, code=LAYERS[stack.layer].code,
    )  # fmt: skip
