"""Which operation works on which torch dtype: found by doing it, in a child process with torch."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from core.dtypes.libraries.library_records import OperationRow

if TYPE_CHECKING:
    import torch

SIDE: Final = 16  # GPU kernels for 8-bit types want multiples of 16; small enough to cost nothing
_MESSAGE_LENGTH: Final = 300


@dataclass(frozen=True)
class Subject:
    """What an operation is tried on: a square of one dtype on one device."""

    library: Any  # torch itself, imported late
    dtype: "torch.dtype"
    device: str
    # ones converted from float32; bytes of 1 under another name where torch cannot convert
    ones: "torch.Tensor"
    is_raw: bool  # whether they are such bytes: then nobody knows what a result must be


def subject_of(dtype: "torch.dtype", device: str) -> Subject:
    """Return ones of a dtype, or bytes that pass for them."""
    import torch

    try:
        ones = torch.ones(SIDE, SIDE, device=device).to(dtype)
        return Subject(torch, dtype, device, ones, is_raw=False)
    except (RuntimeError, TypeError, ValueError):
        raw = torch.ones(SIDE, SIDE * dtype.itemsize, dtype=torch.uint8, device=device)
    try:
        return Subject(torch, dtype, device, raw.view(dtype), is_raw=True)
    except (RuntimeError, TypeError, ValueError):
        empty = torch.empty(SIDE, SIDE, dtype=dtype, device=device)
        return Subject(torch, dtype, device, empty, is_raw=True)


def info(subject: Subject) -> float:
    """Return the largest number that torch.finfo or torch.iinfo names."""
    is_float = subject.dtype.is_floating_point or subject.dtype.is_complex
    return float((subject.library.finfo if is_float else subject.library.iinfo)(subject.dtype).max)


Act = Callable[[Subject], Any]
# name: (what is done, what every element of the result must be; None for anything)
OPERATIONS: Final[Mapping[str, tuple[Act, float | None]]] = {
    "create": (lambda s: s.library.empty(SIDE, dtype=s.dtype, device=s.device), None),
    "fill": (lambda s: s.library.full((SIDE,), 1, dtype=s.dtype, device=s.device), 1),
    "from float32": (lambda s: s.library.ones(SIDE, SIDE, device=s.device).to(s.dtype), 1),
    "to float32": (lambda s: s.ones.to(s.library.float32), 1),
    "add": (lambda s: s.ones + s.ones, 2),
    "multiply": (lambda s: s.ones * s.ones, 1),
    "mix with float32": (lambda s: s.ones * s.library.ones(SIDE, SIDE, device=s.device), 1),
    "negate": (lambda s: -s.ones, None),
    "sum": (lambda s: s.ones.sum(), SIDE * SIDE),
    "mean": (lambda s: s.ones.mean(), 1),
    "max": (lambda s: s.ones.max(), 1),
    "compare": (lambda s: s.ones < s.ones, 0),
    "equal": (lambda s: s.ones == s.ones, 1),
    "matmul": (lambda s: s.ones @ s.ones, SIDE),
    "linear": (lambda s: s.library.nn.functional.linear(s.ones, s.ones), SIDE),
    "exp": (lambda s: s.ones.exp(), None),
    "softmax": (lambda s: s.ones.softmax(-1), 1 / SIDE),
    "clamp": (lambda s: s.ones.clamp(0, 1), 1),
    "where": (lambda s: s.library.where(s.ones.isnan(), s.ones, s.ones), 1),
    "cat": (lambda s: s.library.cat([s.ones, s.ones]), 1),
    "isnan": (lambda s: s.ones.isnan(), 0),
    "isinf": (lambda s: s.ones.isinf(), 0),
    "nextafter": (lambda s: s.ones.nextafter(s.ones), 1),
    "item": (lambda s: s.ones[0, 0].item(), 1),
    "repr": (lambda s: repr(s.ones), None),
    "numpy": (lambda s: s.ones.cpu().numpy(), None),
    "finfo, iinfo": (info, None),
}


def torch_dtypes() -> "dict[str, torch.dtype]":
    """Return every dtype of this torch under its own name, aliases left out."""
    import torch

    dtypes = {value for value in vars(torch).values() if isinstance(value, torch.dtype)}
    return dict(sorted((str(dtype).removeprefix("torch."), dtype) for dtype in dtypes))


def try_operations(device: str) -> tuple[OperationRow, ...]:
    """Try every operation on every dtype of this torch on `device` ("cpu", "cuda:0")."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "experimental" is no verdict
        subjects = {name: subject_of(dtype, device) for name, dtype in torch_dtypes().items()}
        return tuple(
            _try(name, subject, operation)
            for name, subject in subjects.items()
            for operation in OPERATIONS
        )


def _try(name: str, subject: Subject, operation: str) -> OperationRow:
    act, expected = OPERATIONS[operation]
    if subject.is_raw:
        expected = None
    elif name == "bool" and expected == 2:
        expected = 1  # True + True is True
    message = complaint(lambda: act(subject), expected)[:_MESSAGE_LENGTH]
    return OperationRow(
        dtype=name, device=subject.device, operation=operation, works=not message, message=message
    )


def complaint(act: Callable[[], Any], expected: float | None) -> str:
    """Return why something does not work, in torch's words or ours; "" if it does.

    A result that is not `expected` in every place does not count as working; None expects nothing.
    """
    import torch

    try:
        result = act()
        if expected is None:
            return ""
        values = torch.as_tensor(result).to(torch.float32)
    except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as error:
        return str(error).split("\n")[0].strip() or type(error).__name__
    if bool(values.eq(expected).all()):
        return ""
    return f"gave {values.flatten()[0].item():g} where {expected:g} is right"
