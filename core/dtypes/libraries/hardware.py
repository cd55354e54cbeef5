"""Which chip computes in which number format: one row a chip in hardware.toml, with its sources.

What no document says is "unknown" and stays so.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from core.language import N_

Status = Literal["matrix", "vector", "converted", "no", "unknown"]
STATUS_WORDS: Final[Mapping[Status, str]] = {
    "matrix": N_("matrix units"),
    "vector": N_("ordinary units"),
    "converted": N_("stored, then converted"),
    "no": N_("no"),
    "unknown": N_("unknown"),
}
# A column of the table: what people call it, and the formats here that it is about.
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Where a cell comes from."""

    title: str
    address: str
    date: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """What one chip does with one format."""

    # "matrix": multiplied in units for matrices; "vector": computed in the ordinary units;
    # "converted": stored, and turned into another format before computing
    status: Status
    source: Source | None
    note: str = ""  # a sentence to be translated, or ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Chip:
    """One row: a chip, and a cell for every column of `COLUMNS`."""

    name: str
    year: int
    architecture: str  # NVIDIA's compute capability, AMD's or Intel's architecture
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


NOTES: Final[Mapping[str, str]] = {
    "no_4_bits": N_("Not in the tensor cores any more; 4-bit weights are widened first."),
    "layouts": N_(
        "Transformer Engine refuses MXFP8 training here: not every matrix layout is supported."
    ),
    "apple": N_(
        "torch takes it since macOS 14; which chips compute it natively is not documented."
    ),
    "by_bf16": N_("No TF32 units any more: a matmul is put together from several in BF16."),
    "by_torch": N_("torch widens it to float32, multiplies, and rounds the result once."),
}


def _chip(cells: list[Any], sources: Mapping[str, Source], **row: Any) -> Chip:  # noqa: ANN401
    found = dict.fromkeys(COLUMNS, Cell(status="unknown", source=None))
    for status, source, columns, *notes in cells:
        note = "".join(NOTES[each] for each in notes)
        cell = Cell(status=status, source=sources[source] if source else None, note=note)
        found |= dict.fromkeys(columns.split(), cell)
    return Chip(cells=found, **row)


def _read() -> tuple[Chip, ...]:
    rows = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    sources = {name: Source(**row) for name, row in rows["source"].items()}
    return tuple(_chip(sources=sources, **row) for row in rows["chip"])


HARDWARE: Final = _read()
