"""Two ways to the same elements, side by side: one is a view, the other copies; NumPy beside both.

PyTorch runs its text through `core.tensors.trace`, NumPy runs its own as it stands in the table.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from core.language import N_
from core.tensors.presets import counted
from core.tensors.rules import Kind
from core.tensors.trace import Trace, trace


@dataclass(frozen=True, slots=True)
class Way:
    """One expression.

    Attributes:
        torch: In PyTorch, on `x`.
        numpy: The same in NumPy, on the array `a`.
    """

    torch: str
    numpy: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Two ways, on `x` = 0, 1, 2, ... in that shape."""

    key: str
    title: str
    shape: tuple[int, ...]
    first: Way
    second: Way

    @property
    def ways(self) -> tuple[Way, Way]:
        """Both, from the left."""
        return self.first, self.second


@dataclass(frozen=True, kw_only=True, slots=True)
class InTorch:
    """What PyTorch made of a way; `kind` and the layout are None where it refused."""

    trace: Trace
    kind: Kind | None
    shape: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()
    num_bytes_copied: int = 0
    refusal: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class InNumpy:
    """What NumPy made of it; strides in elements, as PyTorch counts them."""

    kind: Kind
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    num_bytes_copied: int


def _way(index: str) -> Way:
    """Return a way that reads the same in both: an index in brackets."""
    return Way(f"x[{index}]", f"a[{index}]")


SLICE: Final = "slice"  # the pair that the sliders make
# fmt: off
PAIRS: Final = (
    Pair(key="row", title=N_("One row"), shape=(2, 3),
         first=_way("1"), second=_way("[1]")),
    Pair(key="tensor", title=N_("Index tensor"), shape=(2, 3),
         first=Way("x[torch.tensor(1)]", "a[np.array(1)]"),
         second=Way("x[torch.tensor([1])]", "a[np.array([1])]")),
    Pair(key="mask", title=N_("Mask"), shape=(2, 3),
         first=_way("1:"), second=Way("x[x > 2]", "a[a > 2]")),
    Pair(key="none", title=N_("None and True"), shape=(2, 3),
         first=_way("None"), second=_way("True")),
    Pair(key="last", title=N_("Last token"), shape=(2, 3, 4),
         first=_way(":, -1, :"), second=_way(":, [-1], :")),
    Pair(key="mixed", title=N_("Integer and list"), shape=(2, 3, 4),
         first=Way("x[0][:, [0, 2]]", "a[0][:, [0, 2]]"), second=_way("0, :, [0, 2]")),
    Pair(key="lists", title=N_("Two lists"), shape=(2, 3, 4),
         first=_way(":, [0, 2], [1, 3]"), second=_way("[0, 1], :, [0, 2]")),
    Pair(key="reversed", title=N_("Backwards"), shape=(2, 3),
         first=_way(":, ::-1"), second=Way("x.flip(1)", "np.flip(a, 1)")),
    Pair(key="turned", title="rot90, roll", shape=(2, 3),
         first=Way("x.rot90()", "np.rot90(a)"), second=Way("x.roll(1, 1)", "np.roll(a, 1, 1)")),
    Pair(key="expand", title="expand, repeat", shape=(3, 1),
         first=Way("x.expand(3, 4)", "np.broadcast_to(a, (3, 4))"),
         second=Way("x.repeat(1, 4)", "np.tile(a, (1, 4))")),
    Pair(key="diagonal", title="diagonal, diag", shape=(3, 3),
         first=Way("x.diagonal()", "a.diagonal()"), second=Way("x.diag()", "np.diag(a).copy()")),
    Pair(key="flatten", title="ravel", shape=(2, 3),
         first=Way("x.ravel()", "a.ravel()"), second=Way("x.t().ravel()", "a.T.ravel()")),
)
# fmt: on
BY_KEY: Final = {pair.key: pair for pair in PAIRS}


def slice_pair(num_columns: int, start: int, stop: int, step: int) -> Pair:
    """Return columns as a slice and as the list of the same columns; 2 rows.

    Raises:
        ValueError: If the step is below 1, which PyTorch does not take.

    >>> slice_pair(6, 0, 5, 2).second.torch
    'x[:, [0, 2, 4]]'
    """
    if step < 1:
        raise ValueError(f"step {step}: a slice of a tensor takes steps from 1")
    columns = list(range(num_columns)[start:stop:step])
    written = f"{start}:{stop}" + (f":{step}" if step > 1 else "")
    return Pair(
        key=SLICE,
        title=N_("Slice and list"),
        shape=(2, num_columns),
        first=_way(f":, {written}"),
        second=_way(f":, {columns}"),
    )


def in_torch(way: Way, shape: tuple[int, ...]) -> InTorch:
    """Run a way in PyTorch, on 0, 1, 2, ... in float32."""
    ran = trace(way.torch, {"x": counted(shape)})
    if ran.error is not None:
        return InTorch(trace=ran, kind=None, refusal=ran.error.torch_message)
    last = ran.steps[-1]
    layout = last.outputs[0].layout
    return InTorch(
        trace=ran,
        kind=last.kind,
        shape=layout.shape,
        stride=layout.stride,
        num_bytes_copied=last.bytes_copied,
    )


def in_numpy(way: Way, shape: tuple[int, ...]) -> InNumpy:
    """Run the same in NumPy."""
    a = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    found = np.asarray(eval(way.numpy, {"np": np, "a": a}))  # noqa: S307  a row of this file
    is_view = np.shares_memory(found, a)
    return InNumpy(
        kind="view" if is_view else "copy",
        shape=found.shape,
        stride=tuple(step // found.itemsize for step in found.strides),
        num_bytes_copied=0 if is_view else found.nbytes,
    )
