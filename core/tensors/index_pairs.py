"""Two ways to the same elements, side by side: one is a view, the other copies; NumPy beside both.

PyTorch runs the text through `core.tensors.trace`. NumPy runs the function of the row; a test
compares its text with it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.language import N_
from core.tensors.presets import counted
from core.tensors.rules import Kind
from core.tensors.trace import Trace, trace

Array = npt.NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """One expression.

    Attributes:
        torch: In PyTorch, on `x`.
        numpy: The same in NumPy, on the array `a`.
        run: What `numpy` says.
    """

    torch: str
    numpy: str
    run: Callable[[Array], Any]


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


def _way(index: str, run: Callable[[Array], Any]) -> Way:
    """Return a way that reads the same in both: an index in brackets."""
    return Way(torch=f"x[{index}]", numpy=f"a[{index}]", run=run)


SLICE: Final = "slice"  # the pair that the sliders make
PAIRS: Final = (
    Pair(
        key="row",
        title=N_("One row"),
        shape=(2, 3),
        first=_way("1", lambda a: a[1]),
        second=_way("[1]", lambda a: a[[1]]),
    ),
    Pair(
        key="tensor",
        title=N_("Index tensor"),
        shape=(2, 3),
        first=Way(torch="x[torch.tensor(1)]", numpy="a[np.array(1)]", run=lambda a: a[np.array(1)]),
        second=Way(
            torch="x[torch.tensor([1])]", numpy="a[np.array([1])]", run=lambda a: a[np.array([1])]
        ),
    ),
    Pair(
        key="mask",
        title=N_("Mask"),
        shape=(2, 3),
        first=_way("1:", lambda a: a[1:]),
        second=Way(torch="x[x > 2]", numpy="a[a > 2]", run=lambda a: a[a > 2]),
    ),
    Pair(
        key="none",
        title=N_("None and True"),
        shape=(2, 3),
        first=_way("None", lambda a: a[None]),
        second=_way("True", lambda a: a[True]),
    ),
    Pair(
        key="last",
        title=N_("Last token"),
        shape=(2, 3, 4),
        first=_way(":, -1, :", lambda a: a[:, -1, :]),
        second=_way(":, [-1], :", lambda a: a[:, [-1], :]),
    ),
    Pair(
        key="mixed",
        title=N_("Integer and list"),
        shape=(2, 3, 4),
        first=Way(torch="x[0][:, [0, 2]]", numpy="a[0][:, [0, 2]]", run=lambda a: a[0][:, [0, 2]]),
        second=_way("0, :, [0, 2]", lambda a: a[0, :, [0, 2]]),
    ),
    Pair(
        key="lists",
        title=N_("Two lists"),
        shape=(2, 3, 4),
        first=_way(":, [0, 2], [1, 3]", lambda a: a[:, [0, 2], [1, 3]]),
        second=_way("[0, 1], :, [0, 2]", lambda a: a[[0, 1], :, [0, 2]]),
    ),
    Pair(
        key="reversed",
        title=N_("Backwards"),
        shape=(2, 3),
        first=_way(":, ::-1", lambda a: a[:, ::-1]),
        second=Way(torch="x.flip(1)", numpy="np.flip(a, 1)", run=lambda a: np.flip(a, 1)),
    ),
    Pair(
        key="turned",
        title="rot90, roll",
        shape=(2, 3),
        first=Way(torch="x.rot90()", numpy="np.rot90(a)", run=np.rot90),
        second=Way(torch="x.roll(1, 1)", numpy="np.roll(a, 1, 1)", run=lambda a: np.roll(a, 1, 1)),
    ),
    Pair(
        key="expand",
        title="expand, repeat",
        shape=(3, 1),
        first=Way(
            torch="x.expand(3, 4)",
            numpy="np.broadcast_to(a, (3, 4))",
            run=lambda a: np.broadcast_to(a, (3, 4)),
        ),
        second=Way(
            torch="x.repeat(1, 4)", numpy="np.tile(a, (1, 4))", run=lambda a: np.tile(a, (1, 4))
        ),
    ),
    Pair(
        key="diagonal",
        title="diagonal, diag",
        shape=(3, 3),
        first=Way(torch="x.diagonal()", numpy="a.diagonal()", run=lambda a: a.diagonal()),
        second=Way(torch="x.diag()", numpy="np.diag(a).copy()", run=lambda a: np.diag(a).copy()),
    ),
    Pair(
        key="flatten",
        title="ravel",
        shape=(2, 3),
        first=Way(torch="x.ravel()", numpy="a.ravel()", run=lambda a: a.ravel()),
        second=Way(torch="x.t().ravel()", numpy="a.T.ravel()", run=lambda a: a.T.ravel()),
    ),
)
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
        first=_way(f":, {written}", lambda a: a[:, start:stop:step]),
        second=_way(f":, {columns}", partial(_columns, columns=columns)),
    )


def _columns(a: Array, columns: list[int]) -> Array:
    return a[:, columns]


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
    found = np.asarray(way.run(a))
    is_view = np.shares_memory(found, a)
    return InNumpy(
        kind="view" if is_view else "copy",
        shape=found.shape,
        stride=tuple(step // found.itemsize for step in found.strides),
        num_bytes_copied=0 if is_view else found.nbytes,
    )
