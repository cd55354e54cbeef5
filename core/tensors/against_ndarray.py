"""Five things that a Tensor has and an ndarray has not, each tried on both; and a traced graph.

Rows hold programs: what is shown is what runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import getsource
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.proxy import TraceError

from core.language import N_

MOST_ROWS: Final = 5
_PROGRAMS: Final[Mapping[str, tuple[str, str]]] = {
    N_("gradients"): (
        "x = np.array([3.0])\n(x**2).backward()",
        "x = torch.tensor([3.0], requires_grad=True)\n(x**2).backward()\nx.grad",
    ),
    N_("devices"): (
        'np.zeros(3, device="meta")',
        'torch.zeros(3, device="meta").device',
    ),
    N_("narrow dtypes"): (
        "np.array([0.1]).astype(np.bfloat16)",
        "torch.tensor([0.1], dtype=torch.bfloat16).dtype",
    ),
    N_("float32 by default"): (
        "np.array([0.1]).dtype",
        "torch.tensor([0.1]).dtype",
    ),
    N_("a graph of what runs"): (
        "torch.fx.symbolic_trace(lambda x: np.sin(x))",
        "torch.fx.symbolic_trace(lambda x: torch.sin(x)).graph",
    ),
}


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
