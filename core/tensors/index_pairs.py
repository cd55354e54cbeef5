"""Two ways to the same elements, side by side: one is a view, the other copies; NumPy beside both.

PyTorch runs its text through `core.tensors.trace`, NumPy runs its own as it stands in the table.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from core.tensors.examples import Example, counted, examples
from core.tensors.rules import Kind
from core.tensors.trace import Trace, trace


@dataclass(frozen=True, slots=True)
class Way:
    """One expression."""

    torch: str  # in PyTorch, on `x`
    numpy: str  # the same in NumPy, on the array `a`


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair(Example):
    """Two ways, each in PyTorch and in NumPy, on `x` = 0, 1, 2, ... in that shape."""

    shape: tuple[int, ...]
    first: tuple[str, str]
    second: tuple[str, str]

    @property
    def ways(self) -> tuple[Way, Way]:
        """Both, from the left."""
        return Way(*self.first), Way(*self.second)


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """What PyTorch or NumPy made of a way; without a kind where it refused."""

    kind: Kind | None = None
    shape: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()  # in elements, as PyTorch counts them
    num_bytes_copied: int = 0
    refusal: str = ""
    trace: Trace | None = None  # of PyTorch


SLICE: Final = "slice"  # the pair that the sliders make
PAIRS: Final = examples("pair", Pair)


def slice_pair(num_columns: int, start: int, stop: int, step: int) -> Pair:
    """Return columns as a slice and as the list of the same columns; 2 rows.

    >>> slice_pair(6, 0, 5, 2).ways[1].torch
    'x[:, [0, 2, 4]]'
    """
    columns = list(range(num_columns)[start:stop:step])
    written = f"{start}:{stop}" + (f":{step}" if step > 1 else "")
    texts = (f"[:, {written}]", f"[:, {columns}]")
    first, second = ((f"x{index}", f"a{index}") for index in texts)
    return Pair(title={}, shape=(2, num_columns), first=first, second=second)


def in_torch(way: Way, shape: tuple[int, ...]) -> Made:
    """Run a way in PyTorch, on 0, 1, 2, ... in float32."""
    ran = trace(way.torch, {"x": counted(shape)})
    if ran.error is not None:
        return Made(trace=ran, refusal=ran.error.torch_message)
    last = ran.steps[-1]
    layout = last.outputs[0].layout
    return Made(
        trace=ran,
        kind=last.kind,
        shape=layout.shape,
        stride=layout.stride,
        num_bytes_copied=last.bytes_copied,
    )


def in_numpy(way: Way, shape: tuple[int, ...]) -> Made:
    """Run the same in NumPy."""
    a = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    found = np.asarray(eval(way.numpy, {"np": np, "a": a}))  # noqa: S307  a row of this file
    is_view = np.shares_memory(found, a)
    return Made(
        kind="view" if is_view else "copy",
        shape=found.shape,
        stride=tuple(step // found.itemsize for step in found.strides),
        num_bytes_copied=0 if is_view else found.nbytes,
    )
