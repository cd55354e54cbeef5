"""The program as plain Python, which runs anywhere with torch and einops."""

from core.tensors.trace import TracedTensor
from pages.tensors.strides_and_views.inputs import Case

_PRINT = "print(tuple({name}.shape), {name}.stride(), {name}.storage_offset())"


def snippet(case: Case) -> str:
    """Return code that does what the page did, up to the statement that was refused."""
    imports, _blank, body = (case.trace.script or "import torch\n\n").partition("\n\n")
    name = "result" if "result = " in body else "x"
    return "\n".join([imports, "", f"x = {_made(case)}", body, _PRINT.format(name=name)])


def _made(case: Case) -> str:
    if not case.has_data:
        return f'torch.empty({case.shape}, dtype=torch.{case.dtype}, device="meta")'
    size = " * ".join(map(str, case.shape))
    return f"torch.arange({size}).to(torch.{case.dtype}).view({case.shape})"


def view_snippet(tensor: TracedTensor, target: tuple[int, ...]) -> str:
    """Return code that tries the view on a tensor with these very strides."""
    layout = tensor.layout
    return f"""
import torch

y = torch.empty_strided({layout.shape}, {layout.stride}, dtype=torch.{tensor.dtype}, device="meta")
try:
    print(y.view({target}).stride())
except RuntimeError as error:
    print(error)
"""


_WALK = """
import itertools

import torch

y = torch.empty_strided({shape}, {stride}, dtype=torch.{dtype}, device="meta")
lines = [
    ({offset} + sum(i * step for i, step in zip(index, y.stride()))) * y.element_size() // 64
    for index in itertools.product(*map(range, y.shape))
]
print(len(lines), "elements on", len(set(lines)), "cache lines")
print(sum(a != b for a, b in zip(lines, lines[1:])) + (len(lines) > 0), "changes of line")
"""


def access_snippet(case: Case) -> str:
    """Return code that counts the cache lines of the last tensor, read in order."""
    tensor = case.trace.tensors[-1]
    layout = tensor.layout
    return _WALK.format(
        shape=layout.shape, stride=layout.stride, offset=layout.offset, dtype=tensor.dtype
    )
