"""What the tabs say as plain Python, which runs anywhere with torch and einops."""

import keyword
from typing import Final

from core.tensors.attention import AttentionRun
from core.tensors.einsum_run import EinsumRun
from core.tensors.pattern_cells import PatternRun

_SHORT: Final = """
def short(value, base, units):
    for unit in units:
        if value < base * 0.9995 or unit == units[-1]:
            break
        value /= base
    digits = 0 if unit == "B" or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:,.{digits}f} {unit}"

size = lambda num_bytes: short(num_bytes, BASE, ("B", "KB", "MB", "GB", "TB"))
work = lambda flops: short(flops, 1000, ("FLOPs", "kFLOPs", "MFLOPs", "GFLOPs", "TFLOPs"))
"""
_PATTERN: Final = """
import torch
from einops import {operation}

{written}

x = {x}
y = {operation}(x, "{pattern}"{arguments})

# The same in torch, a call at a time: does it share the storage of what it was given?
moved = flops = 0
by_hand = x
for call in ({calls}):
    result = call(by_hand)
    is_view = result.untyped_storage()._cdata == by_hand.untyped_storage()._cdata
    read = min(by_hand.nbytes, by_hand.untyped_storage().nbytes())  # repeated ones lie there once
    moved += 0 if is_view else read + result.nbytes
    flops += {flops} if result.numel() < by_hand.numel() else 0
    by_hand = result

assert y.shape == by_hand.shape and y.stride() == by_hand.stride()
print(tuple(x.shape), "->", tuple(y.shape), size(moved), work(flops){first})
"""


_CHECK: Final = """
known = {lengths}
names = "{note}".split()  # what a checker does; Python itself never reads an annotation
if "..." in names:
    at = names.index("...")
    names[at : at + 1] = ["_"] * (y.ndim - len(names) + 1)
if len(names) != y.ndim:
    print(names, "are not the dimensions of", tuple(y.shape))
for name, length in zip(names, y.shape):
    bound = int(name) if name.isdecimal() else known.get(name, length)
    if bound != length:
        print(name, "is", bound, "and here", length)
"""


def written(unit: str) -> str:
    """Return functions that write bytes and FLOPs as the page does, in the reader's unit."""
    binary = unit == "GiB"
    text = _SHORT.strip().replace("BASE", "1024" if binary else "1000")
    prefixes = ("Ki", "Mi", "Gi", "Ti") if binary else ("k", "M", "G", "T")
    for plain, prefix in zip("KMGT", prefixes, strict=True):
        text = text.replace(f'"{plain}B"', f'"{prefix}B"')
    return text


def pattern_code(run: PatternRun, unit: str, annotation: str = "") -> str:
    """Return code that does what a pattern does, twice, and counts what it costs."""
    call = run.call
    sizes = "".join(f", {name}={length}" for name, length in call.sizes.items())
    if any(map(keyword.iskeyword, call.sizes)):  # Python refuses in=2
        sizes = f", **{call.sizes}"
    reduction = f', "{call.reduction}"' if call.operation == "reduce" else ""
    has_values = run.first is not None
    flops = "by_hand.numel()" if call.reduction == "mean" else "by_hand.numel() - result.numel()"
    checked = _CHECK.format(lengths=call.lengths, note=annotation) if annotation else ""
    calls = "".join(f"lambda x: x{step.code}, " for step in run.plan.steps)
    return (
        _PATTERN.format(
            operation=call.operation,
            pattern=call.pattern,
            arguments=reduction + sizes,
            written=written(unit),
            x=_tensor(run.shape, call.dtype, has_values=has_values, ones=call.ones),
            calls=calls.rstrip(),
            flops=flops,
            first=', "first element", y.flatten()[0].item()' if has_values else "",
        )
        + checked
    )


def _tensor(shape: tuple[int, ...], dtype: str, *, has_values: bool, ones: bool) -> str:
    if not has_values:
        return f'torch.empty({shape}, dtype=torch.{dtype}, device="meta")'
    if ones:
        return f"torch.ones({shape}, dtype=torch.{dtype})"
    size = " * ".join(map(str, shape)) or "1"
    return f"torch.arange({size}).to(torch.{dtype}).reshape({shape})"


_EINSUM: Final = """
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

{written}

class Others(TorchDispatchMode):  # hears of every aten operation underneath
    copied = copies = flops = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {{}}))
        if func is torch.ops.aten.clone.default:
            self.copied, self.copies = self.copied + result.nbytes, self.copies + 1
        if func.overloadpacket is torch.ops.aten.sum:  # n - 1 additions for n numbers
            self.flops += args[0].numel() - result.numel()
        if func.overloadpacket is torch.ops.aten.mul:  # a product that sums nothing
            self.flops += result.numel()
        return result

tensors = [torch.empty(shape, dtype=torch.{dtype}, device="meta") for shape in {shapes}]
with FlopCounterMode(display=False) as products, Others() as others:
    result = torch.einsum("{equation}", *tensors)
print(tuple(result.shape), work(products.get_total_flops() + others.flops))
print(others.copies, "hidden copies of", size(others.copied)){best}
"""
_BEST: Final = """

{names} = tensors
with FlopCounterMode(display=False) as products, Others() as others:
    {code}
print("in the best order", work(products.get_total_flops() + others.flops))"""


def einsum_code(run: EinsumRun, dtype: str, unit: str) -> str:
    """Return code that runs an einsum without data and counts its FLOPs and hidden copies."""
    left, best = run.plan.left_to_right, run.plan.best
    better = _BEST.format(
        names=", ".join(f"x{at}" for at in range(len(run.names))),
        code=best.code.replace("\n", "\n    "),
    )
    return _EINSUM.format(
        written=written(unit),
        dtype=dtype,
        shapes=list(run.plan.equation.shapes),
        equation=run.plan.equation.torch,
        best=better if best.flops < left.flops else "",
    )


_ATTENTION: Final = """
import torch
import torch.nn.functional as F
from einops import einsum, rearrange

{written}

torch.manual_seed(0)
{tensors}

{source}
{prints}
"""
_SCORES: Final = 'print("scores", size(scores.nbytes), "softmax", size(weights.nbytes))'
_DIFFERENCE: Final = """
fused = F.scaled_dot_product_attention(qh, kh, vh)
print("largest difference from SDPA", (y - fused).abs().max().item())"""
_FUSED: Final = """
scores = qh @ kh.transpose(-2, -1)
print("result", size(y.nbytes), "no scores of", size(scores.nbytes))"""


def attention_code(run: AttentionRun, program: str, unit: str) -> str:
    first, *lines, last = [stage.code for stage in run.stages]
    ends = {
        "hand": _SCORES + (_DIFFERENCE if run.size.has_data else ""),
        "sdpa": _FUSED.strip(),
        "linear": 'print("product", size(y.nbytes)'
        + (', "all", merged.flatten()[0].item())' if run.size.has_data else ")"),
    }
    split, given = first.partition(" = ")[0], "x" if program == "linear" else "q"
    shares = [_shared("split", split, given), _shared("merge", "merged", "y")]
    return _ATTENTION.format(
        written=written(unit),
        tensors="\n".join(_inputs(run, program)),
        source="\n".join([first, *lines, f"merged = {last}"]),
        prints="\n".join([*shares, ends[program]]),
    )


def _shared(what: str, result: str, given: str) -> str:
    """Return a line that prints what a result took: nothing, if it shares the storage."""
    is_view = f"{result}.untyped_storage()._cdata == {given}.untyped_storage()._cdata"
    return f'print("{what}", size(0 if {is_view} else {result}.nbytes))'


def _inputs(run: AttentionRun, program: str) -> list[str]:
    size = run.size
    wide, narrow = (
        (size.batch_size, run.seq_len, heads * size.head_dim)
        for heads in (size.num_heads, size.num_kv_heads)
    )
    shapes: dict[str, tuple[int, ...]] = {"q": wide, "k": narrow, "v": narrow}
    if program == "linear":
        shapes = {"x": wide, "w": (size.head_dim, size.head_dim)}
    make = "torch.ones({})" if program == "linear" else "torch.randn({})"
    if not size.has_data:
        make = f'torch.empty({{}}, dtype=torch.{size.dtype}, device="meta")'
    return [f"{name} = {make.format(shape)}" for name, shape in shapes.items()]
