"""Between NumPy and PyTorch: who shares memory, who copies, what is refused. Each row runs.

A row makes an array `a` and from it a tensor `t`, or the other way round; then `a` is written into.
Whether they share is what that write shows.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
import torch
from torch import Tensor
from torch.utils.dlpack import from_dlpack

from core.language import N_
from core.tensors.trace import Trace, trace

Outcome = Literal["shares", "copies", "refused"]
WRITTEN: Final = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Bridge:
    """One way across.

    Attributes:
        key: In links.
        title: What is particular about it.
        first: Makes what is given: the array `a` or, where `from_torch`, the tensor `t`.
        code: The call that is looked at, on `a` or `t`.
        prepare, run: What both texts say.
        from_torch: Whether the tensor comes first.
    """

    key: str
    title: str
    first: str
    code: str
    prepare: Callable[[], Any]
    run: Callable[[Any], Any]
    from_torch: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Crossed:
    """What happened.

    Attributes:
        outcome: "shares" if the write into `a` is seen in `t`.
        dtype: Of the tensor; empty if it was refused.
        shape, stride: Of the tensor; strides in elements.
        seen: The tensor's first element after the write.
        warning, error: The words of PyTorch; the error begins with its type.
        trace: `a` and `t` after the write, to be drawn; None where there is nothing to draw.
        changed: Storage key -> the address that was written to.
    """

    outcome: Outcome
    dtype: str = ""
    shape: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()
    seen: float = 0.0
    warning: str = ""
    error: str = ""
    trace: Trace | None = None
    changed: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def _six() -> Any:  # noqa: ANN401
    return np.arange(6.0)


def _read_only() -> Any:  # noqa: ANN401
    return np.broadcast_to(np.arange(3.0), (2, 3))


_SIX: Final = "a = np.arange(6.0)"
BRIDGES: Final = (
    Bridge(key="from_numpy", title="from_numpy", first=_SIX,
           code="torch.from_numpy(a)", prepare=_six, run=torch.from_numpy),
    Bridge(key="tensor", title="torch.tensor", first=_SIX,
           code="torch.tensor(a)", prepare=_six, run=torch.tensor),
    Bridge(key="as_tensor", title="as_tensor", first=_SIX,
           code="torch.as_tensor(a)", prepare=_six, run=torch.as_tensor),
    Bridge(key="as_float32", title=N_("Another dtype"), first=_SIX,
           code="torch.as_tensor(a, dtype=torch.float32)", prepare=_six,
           run=lambda a: torch.as_tensor(a, dtype=torch.float32)),
    Bridge(key="dlpack", title="DLPack", first=_SIX,
           code="torch.from_dlpack(a)", prepare=_six, run=from_dlpack),
    Bridge(key="frombuffer", title="frombuffer", first=_SIX,
           code="torch.frombuffer(a, dtype=torch.float64)", prepare=_six,
           run=lambda a: torch.frombuffer(a, dtype=torch.float64)),
    Bridge(key="transposed", title=N_("Transposed array"),
           first="a = np.arange(6.0).reshape(2, 3).T", code="torch.from_numpy(a)",
           prepare=lambda: np.arange(6.0).reshape(2, 3).T, run=torch.from_numpy),
    Bridge(key="negative", title=N_("Negative strides"), first="a = np.arange(6.0)[::-1]",
           code="torch.from_numpy(a)", prepare=lambda: np.arange(6.0)[::-1],
           run=torch.from_numpy),
    Bridge(key="negative_copy", title=N_("Negative, copied"),
           first="a = np.arange(6.0)[::-1]", code="torch.from_numpy(a.copy())",
           prepare=lambda: np.arange(6.0)[::-1], run=lambda a: torch.from_numpy(a.copy())),
    Bridge(key="read_only", title=N_("Read-only array"),
           first="a = np.broadcast_to(np.arange(3.0), (2, 3))", code="torch.from_numpy(a)",
           prepare=_read_only, run=torch.from_numpy),
    Bridge(key="byte_order", title=N_("Byte order"),
           first='a = np.arange(6.0).astype(">f4")', code="torch.from_numpy(a)",
           prepare=lambda: np.arange(6.0).astype(">f4"), run=torch.from_numpy),
    Bridge(key="packed", title=N_("Packed record"),
           first='a = np.zeros(4, dtype=[("n", "i1"), ("v", "f4")])["v"]',
           code="torch.from_numpy(a)", run=torch.from_numpy,
           prepare=lambda: np.zeros(4, dtype=[("n", "i1"), ("v", "f4")])["v"]),
    Bridge(key="text", title=N_("Strings"), first='a = np.array(["a", "b"])',
           code="torch.from_numpy(a)", prepare=lambda: np.array(["a", "b"]),
           run=torch.from_numpy),
    Bridge(key="numpy", title="t.numpy()", first="t = torch.arange(6.0)",
           code="t.numpy()", prepare=lambda: torch.arange(6.0), run=lambda t: t.numpy(),
           from_torch=True),
    Bridge(key="bfloat16", title="bfloat16",
           first="t = torch.ones(6, dtype=torch.bfloat16)", code="t.numpy()",
           prepare=lambda: torch.ones(6, dtype=torch.bfloat16), run=lambda t: t.numpy(),
           from_torch=True),
    Bridge(key="gradient", title="requires_grad",
           first="t = torch.ones(6, requires_grad=True)", code="t.numpy()",
           prepare=lambda: torch.ones(6, requires_grad=True), run=lambda t: t.numpy(),
           from_torch=True),
    Bridge(key="detached", title="detach()",
           first="t = torch.ones(6, requires_grad=True)", code="t.detach().numpy()",
           prepare=lambda: torch.ones(6, requires_grad=True),
           run=lambda t: t.detach().numpy(), from_torch=True),
    Bridge(key="conjugate", title=N_("Lazy conjugate"),
           first="t = torch.ones(6, dtype=torch.complex64).conj()", code="t.numpy()",
           prepare=lambda: torch.ones(6, dtype=torch.complex64).conj(),
           run=lambda t: t.numpy(), from_torch=True),
    Bridge(key="meta", title=N_("Not on the CPU"),
           first='t = torch.ones(6, device="meta")', code="t.numpy()",
           prepare=lambda: torch.ones(6, device="meta"), run=lambda t: t.numpy(),
           from_torch=True),
)  # fmt: skip
BY_KEY: Final = {row.key: row for row in BRIDGES}


def cross(row: Bridge) -> Crossed:
    """Run a row, write into the array, and look whether the tensor has changed."""
    given = row.prepare()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        # torch says it of the first array alone that cannot be written to
        torch.set_warn_always(True)
        try:
            made = row.run(given)
        except (TypeError, ValueError, RuntimeError) as error:
            return Crossed(outcome="refused", error=f"{type(error).__name__}: {error}")
        finally:
            torch.set_warn_always(False)
    array, tensor = (made, given) if row.from_torch else (given, made)
    warning = "".join(str(each.message).partition(" (Triggered")[0] for each in told[:1])
    return _compared(array, tensor.detach(), warning)


def _compared(array: Any, tensor: Tensor, warning: str) -> Crossed:  # noqa: ANN401
    """Write into the array, and look at the tensor."""
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
