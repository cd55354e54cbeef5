"""Two numbers of tensors by hand: the bytes of their elements, the FLOPs of a matrix product."""

from typing import Final

from core.budget.item import Formula, Item, item
from core.language import N_

_BYTES: Final = Formula("num_elements * item_bytes")
_MATMUL: Final = Formula("2 * batch * rows * inner * columns")
_COUNTED: Final = N_("each element is stored once")
_TWO: Final = N_("one multiplication and one addition for each pair that meets")
_ALL: Final = Formula("clones")
_SEEN: Final = N_("the clone operations that torch ran, one after another")


def stored_bytes(name: str, num_elements: int, item_bytes: int) -> Item:
    """Return the bytes of a tensor's own elements."""
    values = {"num_elements": num_elements, "item_bytes": item_bytes}
    return item(name, _BYTES, values, unit="bytes", source=_COUNTED, kind="exact")


def matmul_flops(*, batch: int, rows: int, inner: int, columns: int) -> Item:
    """Return the FLOPs of `batch` products of (rows x inner) and (inner x columns)."""
    values = {"batch": batch, "rows": rows, "inner": inner, "columns": columns}
    return item("matmul", _MATMUL, values, unit="FLOPs", source=_TWO, kind="exact")


def copied_bytes(num_bytes: int) -> Item:
    """Return the bytes that torch copied on its own, as its operations told."""
    return item("copied", _ALL, {"clones": num_bytes}, unit="bytes", source=_SEEN, kind="measured")
