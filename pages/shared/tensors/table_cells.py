"""What stands in the tables of these pages: amounts, kinds, and what ran underneath."""

from collections.abc import Sequence

from core.language import _
from core.tensors.trace import AtenRow
from core.units import format_bytes, format_flops
from pages.components.tensor_map.tensor_map import KINDS
from pages.shared.settings import unit_system


def size_text(num_bytes: int) -> str:
    return format_bytes(num_bytes, unit_system())


def kind_text(kind: str) -> str:
    """Return "view", "copy", "the same tensor" or "new" in the reader's language."""
    return _(KINDS[kind]).partition(" · ")[0]


def aten_columns(rows: Sequence[AtenRow]) -> dict[str, Sequence[str]]:
    """Return the columns of a table of operations that torch ran underneath."""
    return {
        _("aten operation"): [row.name.removeprefix("aten.") for row in rows],
        _("Shape"): [" ".join(map(str, row.shapes)) for row in rows],
        _("Allocated"): [size_text(row.num_bytes) if row.num_bytes else "0" for row in rows],
        "FLOPs": [format_flops(row.flops) if row.flops else "" for row in rows],
    }
