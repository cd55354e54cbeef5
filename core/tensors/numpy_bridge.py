"""Between NumPy and PyTorch: who shares memory, who copies, what is refused. Each row runs.

A row makes an array `a` and from it a tensor `t`, or the other way round; then `a` is written into.
Whether they share is what that write shows.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
import torch
from torch import Tensor

from core.tensors.examples import Example, examples
from core.tensors.trace import Trace, trace

Outcome = Literal["shares", "copies", "refused"]
WRITTEN: Final = 100


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
    """What happened.

    Attributes:
        shape, stride: Of the tensor; strides in elements.
        warning, error: The words of PyTorch; the error begins with its type.
        trace: `a` and `t` after the write, to be drawn; None where there is nothing to draw.
        changed: Storage key -> the address that was written to.
    """

    outcome: Outcome  # "shares" if the write into `a` is seen in `t`
    dtype: str = ""  # of the tensor; empty if it was refused
    shape: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()
    seen: float = 0.0  # the tensor's first element after the write
    warning: str = ""
    error: str = ""
    trace: Trace | None = None
    changed: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


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
