"""What the tabs say as plain Python, which runs anywhere with torch and einops."""

from collections.abc import Mapping
from typing import Final

from core.tensors.pattern_cells import PatternRun

SIZE: Final = """
def size(num_bytes):
    for unit in ("B", "{kilo}B", "{mega}B", "{giga}B", "{tera}B"):
        if num_bytes < {base} or unit == "{tera}B":
            digits = 0 if unit == "B" or num_bytes >= 99.95 else 1 if num_bytes >= 9.995 else 2
            return f"{{num_bytes:,.{{digits}}f}} {{unit}}"
        num_bytes /= {base}
"""
_UNITS: Final[Mapping[str, Mapping[str, object]]] = {
    "GiB": {"kilo": "Ki", "mega": "Mi", "giga": "Gi", "tera": "Ti", "base": 1024},
    "GB": {"kilo": "k", "mega": "M", "giga": "G", "tera": "T", "base": 1000},
}
_PATTERN: Final = """
import torch
from einops import {operation}

{size}

x = {x}
y = {operation}(x, "{pattern}"{arguments})

# The same in torch, a call at a time: does it share the storage of what it was given?
moved = flops = 0
by_hand = x
for call in ({calls}):
    result = call(by_hand)
    is_view = result.untyped_storage()._cdata == by_hand.untyped_storage()._cdata
    moved += 0 if is_view else by_hand.nbytes + result.nbytes  # read and written
    flops += by_hand.numel() if result.numel() < by_hand.numel() else 0
    by_hand = result

assert y.shape == by_hand.shape and y.stride() == by_hand.stride()
print(tuple(x.shape), "->", tuple(y.shape), size(moved), flops, "FLOPs"{first})
"""


def size_function(unit: str) -> str:
    """Return a function that writes bytes as the page does, in the reader's unit."""
    return SIZE.format(**_UNITS[unit]).strip()


def pattern_code(run: PatternRun, unit: str) -> str:
    """Return code that does what a pattern does, twice, and counts what it costs."""
    call = run.call
    sizes = "".join(f", {name}={length}" for name, length in call.sizes.items())
    reduction = f', "{call.reduction}"' if call.operation == "reduce" else ""
    has_values = run.first is not None
    calls = "".join(f"lambda x: x{step.code}, " for step in run.plan.steps)
    return _PATTERN.format(
        operation=call.operation,
        pattern=call.pattern,
        arguments=reduction + sizes,
        size=size_function(unit),
        x=_tensor(run.shape, call.dtype, has_values=has_values, ones=call.ones),
        calls=calls.rstrip(),
        first=', "first element", y.flatten()[0].item()' if has_values else "",
    )


def _tensor(shape: tuple[int, ...], dtype: str, *, has_values: bool, ones: bool) -> str:
    if not has_values:
        return f'torch.empty({shape}, dtype=torch.{dtype}, device="meta")'
    if ones:
        return f"torch.ones({shape}, dtype=torch.{dtype})"
    size = " * ".join(map(str, shape)) or "1"
    return f"torch.arange({size}).to(torch.{dtype}).reshape({shape})"
