"""Which operation this torch does on which dtype, as marks, a sentence and a table."""

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.dtypes.libraries.library_records import OperationRow
from core.figures.dtypes.rounding_and_overflow.mark_matrix import Look, Mark, mark_matrix
from core.figures.theme import Mode
from core.language import N_, _

# The dtypes of torch in groups that fit a screen; the first prefix that fits decides.
FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "floats": ("float", "bfloat"),
    "integers": ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"),
    "few": ("int", "uint"),
    "others": ("",),
}
FAMILY_NAMES: Final[Mapping[str, str]] = {
    "floats": N_("floats"),
    "integers": N_("whole bytes"),
    "few": N_("1 to 7 bits"),
    "others": N_("complex, quantized, bits"),
}


def family_of(dtype: str) -> str:
    """Return the family that a torch dtype is shown in.

    >>> family_of("bfloat16"), family_of("uint3"), family_of("uint32"), family_of("quint8")
    ('floats', 'few', 'integers', 'others')
    """
    return next(name for name, starts in FAMILIES.items() if dtype.startswith(starts))


def operation_matrix(
    rows: Sequence[OperationRow], mode: Mode = "light", *, present: bool = False
) -> go.Figure:
    """Draw a row a dtype and a column an operation; torch's own words stand behind a failure."""
    marks = {
        (row.dtype, row.operation): Mark(
            kind="works" if row.works else "refused",
            hover=f"<b>{row.dtype}</b> · {row.operation}<br>{row.message or _('works')}",
        )
        for row in rows
    }
    looks = {
        "works": Look(words=_("works"), symbol="circle", meaning="works"),
        "refused": Look(words=_("refused"), symbol="x-thin", meaning="refused"),
    }
    return mark_matrix(marks, looks, mode, present=present, slanted=True)


def operation_alt(rows: Sequence[OperationRow]) -> str:
    """Return the picture as a sentence: how much each dtype can do."""
    able: dict[str, int] = {}
    for row in rows:
        able[row.dtype] = able.get(row.dtype, 0) + row.works
    total = len({row.operation for row in rows})
    return _("Of {total} operations work: {dtypes}.").format(
        total=total, dtypes=_("; ").join(f"{name} {count}" for name, count in able.items())
    )


def operation_table(rows: Sequence[OperationRow]) -> dict[str, list[str]]:
    """Return what was refused, with torch's own words."""
    refused = [row for row in rows if not row.works]
    return {
        _("dtype"): [row.dtype for row in refused],
        _("operation"): [row.operation for row in refused],
        _("torch's own words"): [row.message for row in refused],
    }
