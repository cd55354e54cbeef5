"""Which chip computes in which number format: one row a chip, one cell a format, with its source.

The rows are in `hardware_rows.py`. What no document says is "unknown" and stays so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, get_args

from core.language import N_

Status = Literal["matrix", "vector", "converted", "no", "unknown"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
STATUS_WORDS: Final[Mapping[Status, str]] = MappingProxyType(
    {
        "matrix": N_("matrix units"),
        "vector": N_("ordinary units"),
        "converted": N_("stored, then converted"),
        "no": N_("no"),
        "unknown": N_("unknown"),
    }
)
# A column of the table: what people call it, and the formats here that it is about.
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "FP64": ("float64",),
        "FP32": ("float32",),
        "TF32": ("tf32",),
        "FP16": ("float16",),
        "BF16": ("bfloat16",),
        "FP8": ("float8_e4m3fn", "float8_e5m2"),
        "FNUZ": ("float8_e4m3fnuz", "float8_e5m2fnuz"),
        "FP6": ("float6_e2m3fn", "float6_e3m2fn"),
        "FP4": ("float4_e2m1fn",),
        "MX": ("float8_e8m0fnu",),
        "NVFP4": (),
        "INT8": ("int8", "uint8"),
        "INT4": ("int4", "uint4"),
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Where a cell comes from.

    Attributes:
        title: What was read, with the section or table.
        address: Where it is, or "" for what was tried here.
        date: When it was written, or read where it bears no date.
    """

    title: str
    address: str
    date: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """What one chip does with one format.

    Attributes:
        status: "matrix": multiplied in units for matrices; "vector": computed in the ordinary
            units; "converted": stored, and turned into another format before computing.
        source: Where that is written; None only where the status is "unknown".
        note: A sentence to be translated, or "".
    """

    status: Status
    source: Source | None
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Chip:
    """One row: a chip, and a cell for every column of `COLUMNS`.

    Attributes:
        name: What people call it.
        year: When it came out.
        architecture: NVIDIA's compute capability, AMD's or Intel's architecture.
    """

    name: str
    year: int
    architecture: str
    cells: Mapping[str, Cell]

    def status(self, column: str) -> Status:
        """Return what the chip does with the formats of a column."""
        return self.cells[column].status


def column_of(format_name: str) -> str | None:
    """Return the column that a format belongs to; None where no chip was ever built for it.

    >>> column_of("float8_e5m2"), column_of("nf4")
    ('FP8', None)
    """
    return next((name for name, formats in COLUMNS.items() if format_name in formats), None)
