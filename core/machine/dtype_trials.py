"""Which torch dtypes work on a device: found by doing it. Needs torch: call it in a child."""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from core.dtypes.libraries.torch_operations import torch_dtypes
from core.machine.records import DtypeVerdict, Trial

if TYPE_CHECKING:
    import torch

SIDE = 16  # cuBLASLt wants multiples of 16 for 8-bit types; small enough to cost nothing


def try_dtypes(device: str) -> tuple[DtypeVerdict, ...]:
    """Try every torch dtype on `device` ("cpu", "cuda:0") and say what worked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "experimental" is no verdict
        return tuple(_try_dtype(name, dtype, device) for name, dtype in torch_dtypes().items())


def _try_dtype(name: str, dtype: "torch.dtype", device: str) -> DtypeVerdict:
    import torch

    def ones() -> torch.Tensor:
        return torch.ones(SIDE, SIDE, device=device).to(dtype)

    plus = 1 if dtype is torch.bool else 2  # True + True is True
    trials = (
        _try("create", lambda: torch.empty(SIDE, SIDE, dtype=dtype, device=device), None),
        _try("convert", ones, 1),
        _try("add", lambda: ones() + ones(), plus),
        _try("matmul", lambda: ones() @ ones(), SIDE),
    )
    return DtypeVerdict(name=name, item_bytes=dtype.itemsize, trials=trials)


def _try(operation: str, act: "Callable[[], torch.Tensor]", expected: int | None) -> Trial:
    """Do it; a result that is not `expected` in every place does not count as working."""
    try:
        message = _wrong(act(), expected)
    except (RuntimeError, TypeError, ValueError) as error:
        message = str(error).split("\n\n")[0].strip()
    return Trial(operation=operation, works=not message, message=message)


def _wrong(result: "torch.Tensor", expected: int | None) -> str:
    import torch

    if expected is None:
        return ""
    values = result.to(torch.float32)
    if bool(torch.eq(values, expected).all()):
        return ""
    return f"gave {values.flatten()[0].item():g} where {expected} is right"
