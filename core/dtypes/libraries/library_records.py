"""What the installed torch does with numbers, as plain data that travels as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
    """What torch does on this computer."""

    torch: str
    devices: tuple[str, ...]  # where operations were tried, by torch's name
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
            devices=tuple(data["devices"]),
            operations=tuple(OperationRow(**row) for row in data["operations"]),
            infos=tuple(InfoRow(**row) for row in data["infos"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is not what torch was asked: {error}") from error
