"""Arithmetic intensity: FLOPs for each byte that goes to and from memory, and what it bounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from core.budget.check import check_range
from core.budget.item import Formula, Item, Kind, Number, counted, item, weakest
from core.budget.recipe import MAX_TOKENS
from core.language import N_

Phase = Literal["prefill", "decode"]
PHASES: Final[tuple[Phase, ...]] = ("prefill", "decode")

ITEM_BYTES: Final[Mapping[str, float]] = {
    "float32": 4, "tf32": 4, "bfloat16": 2, "float16": 2, "fp8": 1, "int8": 1, "fp4": 0.5
}  # fmt: skip
"""What is computed in -> bytes of a number in memory."""

INTENSITY: Final = Formula("flops / num_bytes")
BOUND: Final = Formula("min(1, intensity * bandwidth / flops_per_second)")
ACCELERATOR: Final = Formula("flops_per_second / bandwidth")
TIME: Final = Formula("max(flops / flops_per_second, num_bytes / bandwidth)")
TOGETHER: Final = Formula("flops / (flops_per_second * seconds)")

MOVED: Final = N_("each operation reads its inputs and writes its result once, in memory")
ROOFLINE: Final = N_("Williams, Waterman & Patterson 2009, Roofline")

_MATMUL: Final = (
    Formula("2 * rows * inner * columns"),
    Formula("item_bytes * (rows * inner + inner * columns + rows * columns)"),
)
_ELEMENTWISE: Final = (
    Formula("rows * columns * flops_each"),
    Formula("item_bytes * rows * columns * num_operands"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """One operation: its FLOPs, the bytes it moves, and their ratio, each with its formula."""

    name: str
    flops: Item
    moved: Item
    times: int = 1  # how often a pass through the model runs it

    @property
    def intensity(self) -> Item:
        """FLOPs for each byte."""
        values = {"flops": self.flops.amount, "num_bytes": self.moved.amount}
        kind = weakest([self.flops.kind, self.moved.kind])
        return item(self.name, INTENSITY, values, unit="FLOPs/byte", kind=kind, source=MOVED)


def matmul(name: str, rows: int, inner: int, columns: int, item_bytes: float = 2) -> Operation:
    """Return the product of (rows x inner) and (inner x columns)."""
    values = {"rows": rows, "inner": inner, "columns": columns, "item_bytes": item_bytes}
    return _operation(name, _MATMUL, values)


def elementwise(
    name: str, rows: int, columns: int, *, flops_each: float, num_operands: float, item_bytes: float
) -> Operation:
    """Return an operation on each number apart."""
    values: dict[str, Number] = {
        "rows": rows,
        "columns": columns,
        "flops_each": flops_each,
        "num_operands": num_operands,
        "item_bytes": item_bytes,
    }
    return _operation(name, _ELEMENTWISE, values)


def examples(size: int, item_bytes: float = 2) -> tuple[Operation, ...]:
    """Return the five standard examples over vectors and matrices of `size` (Stanford CS336).

    Raises:
        ValueError: If the size is not positive.
    """
    check_range("size", size, 1, MAX_TOKENS)
    square = {"rows": size, "columns": size, "num_operands": 2, "item_bytes": item_bytes}
    return (
        elementwise(N_("relu"), flops_each=1, **square),  # type: ignore[arg-type]
        elementwise(N_("gelu"), flops_each=20, **square),  # type: ignore[arg-type]
        matmul(N_("dot product"), 1, size, 1, item_bytes),
        matmul(N_("matrix times vector"), size, size, 1, item_bytes),
        matmul(N_("matrix times matrix"), size, size, size, item_bytes),
    )


def bound(operation: Operation, flops_per_second: float, bandwidth: float) -> Item:
    """Return the share of the peak that memory allows: min(1, intensity / the device's own).

    Raises:
        ValueError: If the device has no speed.
    """
    check_range("flops_per_second", flops_per_second, 1, 1e20)
    check_range("bandwidth", bandwidth, 1, 1e18)
    values = {
        "intensity": operation.intensity.amount,
        "bandwidth": bandwidth,
        "flops_per_second": flops_per_second,
    }
    kind = weakest(["bound", operation.intensity.kind])
    return item(operation.name, BOUND, values, unit="1", kind=kind, source=ROOFLINE)


def roofline_seconds(
    operation: Operation, flops_per_second: float, bandwidth: float, *, known: Kind = "data sheet"
) -> Item:
    """Return the least seconds an operation takes: computing or moving, whichever is longer."""
    values = {
        "flops": operation.flops.amount,
        "flops_per_second": flops_per_second,
        "num_bytes": operation.moved.amount,
        "bandwidth": bandwidth,
    }
    kind = weakest(["bound", known, operation.flops.kind, operation.moved.kind])
    return item(operation.name, TIME, values, unit="s", kind=kind, source=ROOFLINE)


def ridge(flops_per_second: float, bandwidth: float, *, kind: Kind = "data sheet") -> Item:
    """Return the intensity at which a device stops waiting for its memory.

    Raises:
        ValueError: If the device has no speed.
    """
    check_range("flops_per_second", flops_per_second, 1, 1e20)
    check_range("bandwidth", bandwidth, 1, 1e18)
    values = {"flops_per_second": flops_per_second, "bandwidth": bandwidth}
    return item(N_("ridge"), ACCELERATOR, values, unit="FLOPs/byte", kind=kind, source=ROOFLINE)


def _operation(name: str, formulas: Sequence[Formula], values: Mapping[str, Number]) -> Operation:
    flops, moved = formulas
    return Operation(
        name=name,
        flops=counted(name, flops, values, MOVED, "FLOPs"),
        moved=item(name, moved, values, unit="bytes", kind="bound", source=MOVED),
    )


def together(
    operations: Sequence[Operation],
    flops_per_second: float,
    bandwidth: float,
    *,
    known: Kind = "data sheet",
) -> Item:
    """Return the share of the peak that all runs of operations reach, one after the other.

    Raises:
        ValueError: If there are no operations.
    """
    if not operations:
        raise ValueError("there are no operations to bound")
    times = [
        roofline_seconds(each, flops_per_second, bandwidth, known=known) for each in operations
    ]
    values = {
        "flops": sum(each.times * each.flops.amount for each in operations),
        "flops_per_second": flops_per_second,
        "seconds": sum(
            each.times * time.amount for each, time in zip(operations, times, strict=True)
        ),
    }
    kind = weakest(time.kind for time in times)
    return item(N_("share of the peak"), TOGETHER, values, unit="1", kind=kind, source=ROOFLINE)
