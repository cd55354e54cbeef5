"""Between NumPy and PyTorch: who shares memory, what a Tensor has and an ndarray has not, graphs.

Each row runs: what is shown is what runs. A bridge makes an array `a` and from it a tensor `t`, or
the other way round; then `a` is written into. Whether they share is what that write shows.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import getsource
from typing import Any, Final, Literal

import numpy as np
import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.proxy import TraceError

from core.language import N_
from core.tensors.examples import Example, examples
from core.tensors.trace import Trace, trace

Outcome = Literal["shares", "copies", "refused"]
WRITTEN: Final = 100
MOST_ROWS: Final = 5
_PROGRAMS: Final[Mapping[str, tuple[str, str]]] = {
    N_("gradients"): (
        "x = np.array([3.0])\n(x**2).backward()",
        "x = torch.tensor([3.0], requires_grad=True)\n(x**2).backward()\nx.grad",
    ),
    N_("devices"): ('np.zeros(3, device="meta")', 'torch.zeros(3, device="meta").device'),
    N_("narrow dtypes"): (
        "np.array([0.1]).astype(np.bfloat16)",
        "torch.tensor([0.1], dtype=torch.bfloat16).dtype",
    ),
    N_("float32 by default"): ("np.array([0.1]).dtype", "torch.tensor([0.1]).dtype"),
    N_("a graph of what runs"): (
        "torch.fx.symbolic_trace(lambda x: np.sin(x))",
        "torch.fx.symbolic_trace(lambda x: torch.sin(x)).graph",
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Bridge(Example):
    """One way across: what makes the array `a` or the tensor `t`, and the call on it."""

    first: str
    code: str

    @property
    def from_torch(self) -> bool:
        """Whether the tensor comes first."""
        return self.first.startswith("t ")


@dataclass(frozen=True, kw_only=True, slots=True)
class Crossed:
    """What happened, with the words of PyTorch; an error begins with its type."""

    outcome: Outcome  # "shares" if the write into `a` is seen in `t`
    dtype: str = ""  # of the tensor; empty if it was refused
    shape: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()  # in elements
    seen: float = 0.0  # the tensor's first element after the write
    warning: str = ""
    error: str = ""
    trace: Trace | None = None  # `a` and `t` after the write, where they can be drawn
    changed: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # by storage key


BRIDGES: Final = examples("bridge", Bridge)


def cross(row: Bridge) -> Crossed:
    """Run a row, write into the array, and look whether the tensor has changed."""
    name, _equals, made_by = row.first.partition(" = ")
    names: dict[str, Any] = {"np": np, "torch": torch}
    given = names[name] = eval(made_by, names)  # noqa: S307  a row of this file, as below
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        # torch says it of the first array alone that cannot be written to
        torch.set_warn_always(True)
        try:
            made = eval(row.code, names)  # noqa: S307
        except (TypeError, ValueError, RuntimeError) as error:
            return Crossed(outcome="refused", error=f"{type(error).__name__}: {error}")
        finally:
            torch.set_warn_always(False)
    array, tensor = (made, given) if row.from_torch else (given, made)
    warning = "".join(str(each.message).partition(" (Triggered")[0] for each in told[:1])
    return _compared(array, tensor.detach(), warning)


def _compared(array: Any, tensor: Tensor, warning: str) -> Crossed:  # noqa: ANN401
    first = (0,) * array.ndim
    before = float(tensor[first])
    if array.flags.writeable:
        array[first] = WRITTEN
        is_shared = float(tensor[first]) == WRITTEN != before
    else:
        is_shared = np.shares_memory(array, tensor.numpy())
    ran = trace("t", _drawn(array, tensor, is_shared=is_shared))
    is_seen = array.flags.writeable and len(ran.inputs) > 1
    return Crossed(
        outcome="shares" if is_shared else "copies",
        dtype=str(tensor.dtype).removeprefix("torch."),
        shape=tuple(tensor.shape),
        stride=tensor.stride(),
        seen=float(tensor[first]),
        warning=warning,
        trace=ran,
        changed={ran.inputs[0].storage: (0,)} if is_seen else {},
    )


def _drawn(array: Any, tensor: Tensor, *, is_shared: bool) -> dict[str, Tensor]:  # noqa: ANN401
    """Return what can be drawn; an array that runs backwards is no tensor."""
    if is_shared:
        return {"a": tensor.view(tensor.shape), "t": tensor}
    if min(array.strides) < 0:
        return {"t": tensor}
    return {"a": torch.from_numpy(array), "t": tensor}


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A program and what came of it: a value as text, or the error's own words."""

    code: str
    says: str
    failed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """One thing, tried on an ndarray and on a Tensor; `title` is marked for the catalogue."""

    title: str
    ndarray: Answer
    tensor: Answer

    @property
    def ndarray_has_it(self) -> bool:
        """Whether the ndarray's program runs and gives what the Tensor's gives."""
        same = self.ndarray.says == self.tensor.says.removeprefix("torch.")
        return same and not self.ndarray.failed


def differences() -> tuple[Difference, ...]:
    """Run all programs and return what came of them."""
    return tuple(
        Difference(title=title, ndarray=_run(old), tensor=_run(new))
        for title, (old, new) in _PROGRAMS.items()
    )


def _run(code: str) -> Answer:
    names: dict[str, Any] = {"np": np, "torch": torch}
    *first, last = code.splitlines()
    try:
        exec("\n".join(first), names)  # noqa: S102  rows of this file, nobody's input
        value = eval(last, names)  # noqa: S307  the same
    except (AttributeError, TypeError, ValueError) as error:
        words = str(error).splitlines()[0]
        return Answer(code=code, says=f"{type(error).__name__}: {words}", failed=True)
    return Answer(code=code, says=str(value).strip(), failed=False)


def branch_on_rows(x: Tensor) -> Tensor:
    """Return twice a long tensor, and a short one less 1."""
    if x.shape[0] > 2:
        return x * 2
    return x - 1


def branch_on_values(x: Tensor) -> Tensor:
    """Return twice a tensor with a positive sum, and any other less 1."""
    if x.sum() > 0:
        return x * 2
    return x - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class TracedIf:
    """A Python `if` run eagerly, and the graph that one run of it left."""

    source: str
    traced_with: int  # rows of the example that it was traced with
    graph: str  # its code
    eager: Mapping[int, float]  # number of rows -> the first value that comes of ones
    traced: Mapping[int, float]  # the same from the graph
    refusal: str  # what torch.fx says to an `if` on values


def trace_an_if(num_rows: int) -> TracedIf:
    """Trace `branch_on_rows` with so many rows, then run both with 1 to 5 rows."""
    graph = make_fx(branch_on_rows)(torch.ones(num_rows))
    inputs = {rows: torch.ones(rows) for rows in range(1, MOST_ROWS + 1)}
    lines = getsource(branch_on_rows).splitlines()
    return TracedIf(
        source="\n".join(line for line in lines if '"""' not in line),
        traced_with=num_rows,
        graph=graph.code.strip(),
        eager={rows: branch_on_rows(x)[0].item() for rows, x in inputs.items()},
        traced={rows: graph(x)[0].item() for rows, x in inputs.items()},
        refusal=_refusal(),
    )


def _refusal() -> str:
    try:
        torch.fx.symbolic_trace(branch_on_values)
    except TraceError as error:
        return f"TraceError: {error}"
    raise AssertionError("torch.fx traces an if on values now")
