"""What the installed libraries do with numbers, as plain data that travels as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class CastRow:
    """One number cast by everybody; None where a library lacks the format."""

    format: str
    case: str  # why this number tells something: a key of `differences.CASES`, or "reader"
    source: str
    value: float
    ours: float
    torch: float | None  # what torch makes of it alone (one element)
    torch_code: int | None  # the bits of that; None also where torch lacks the format
    # the bits when it stands in an array of 64, which takes another code path
    torch_code_long: int | None
    ml_dtypes: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class OperationRow:
    """One operation really tried on one dtype; `message` is torch's own when it did not work."""

    dtype: str
    device: str
    operation: str
    works: bool
    message: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class InfoRow:
    """One number of torch.finfo or torch.iinfo, or torch's message why there is none."""

    dtype: str
    quantity: str
    value: float | None
    message: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class LibraryReport:
    """What torch and ml_dtypes do on this computer."""

    torch: str
    ml_dtypes: str
    devices: tuple[str, ...]  # where operations were tried, by torch's name
    casts: tuple[CastRow, ...]
    operations: tuple[OperationRow, ...]
    infos: tuple[InfoRow, ...]


def report_from_json(data: Mapping[str, Any]) -> LibraryReport:
    """Read a report back.

    Raises:
        ValueError: If the data is no report.
    """
    try:
        return LibraryReport(
            torch=str(data["torch"]),
            ml_dtypes=str(data["ml_dtypes"]),
            devices=tuple(data["devices"]),
            casts=tuple(CastRow(**row) for row in data["casts"]),
            operations=tuple(OperationRow(**row) for row in data["operations"]),
            infos=tuple(InfoRow(**row) for row in data["infos"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is not what the libraries were asked: {error}") from error
