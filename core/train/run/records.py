"""The binary record of one training step: 80 bytes, little-endian, with its own checksum."""

import math
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Annotated, Final, get_type_hints

import numpy as np
import numpy.typing as npt

from core.language import _
from core.train.run.disk import told

MAGIC: Final = b"B2GMETR\0"
VERSION: Final = 1
HEADER: Final = struct.Struct("<8sHH52x")  # magic, version, bytes per record
CHECKSUM: Final = struct.Struct("<I")
CHECKED_BYTES: Final = 72  # the checksum covers everything before it

NON_FINITE: Final = 1  # flag: the loss or a gradient was NaN or infinite
SKIPPED: Final = 2  # flag: the optimizer did not use this step

Records = npt.NDArray[np.void]


@dataclass(frozen=True, kw_only=True, slots=True)
class StepRecord:
    """What one optimizer step looked like: the one list of its fields, in the order of the file.

    Attributes:
        time: Unix time at its end, in seconds.
        loss: Training loss before the update, in nats per token.
        grad_norm: Norm of all gradients before clipping.
        resident_bytes: Physical memory of the training process.
        attempt: Which start of the run it belongs to; the store writes it.
        flags: NON_FINITE and SKIPPED, added together.
    """

    step: Annotated[int, "<u8"]
    time: Annotated[float, "<f8"]
    seconds: Annotated[float, "<f8"]
    loss: Annotated[float, "<f8"]
    learning_rate: Annotated[float, "<f8"]
    grad_norm: Annotated[float, "<f8"]
    tokens_per_second: Annotated[float, "<f8"]
    resident_bytes: Annotated[int, "<u8"]
    attempt: Annotated[int, "<u4"] = 0
    flags: Annotated[int, "<u4"] = 0


_FIELDS: Final = {
    name: hint.__metadata__[0]
    for name, hint in get_type_hints(StepRecord, include_extras=True).items()
}
RECORD_DTYPE: Final = np.dtype([*_FIELDS.items(), ("checksum", "<u4"), ("padding", "<u4")])
_SIGNS: Final = {"<u8": "Q", "<f8": "d", "<u4": "I"}  # numpy's names of types -> struct's
RECORD: Final = struct.Struct("<" + "".join(map(_SIGNS.__getitem__, _FIELDS.values())) + "I4x")
COLUMNS: Final = tuple(_FIELDS)  # what leaves this app: all but what only the file needs
NO_RECORDS: Final = np.empty(0, RECORD_DTYPE)


def pack_record(buffer: bytearray, record: StepRecord, attempt: int) -> None:
    """Write `record` into the 80 bytes of `buffer`; numbers that are not finite set their flag."""
    overflowed = record.flags == SKIPPED  # fp16's gradients did, and that is their way
    finite = math.isfinite(record.loss) and (overflowed or math.isfinite(record.grad_norm))
    flags = record.flags if finite else record.flags | NON_FINITE
    RECORD.pack_into(buffer, 0, *astuple(replace(record, attempt=attempt, flags=flags)), 0)
    CHECKSUM.pack_into(buffer, CHECKED_BYTES, zlib.crc32(memoryview(buffer)[:CHECKED_BYTES]))


def pack_header() -> bytes:
    """Return the 64 bytes that open metrics.bin."""
    return HEADER.pack(MAGIC, VERSION, RECORD.size)


def check_header(header: bytes, path: Path) -> None:
    """Accept the first 64 bytes of a metrics file, or say why not.

    Raises:
        ValueError: the file is not ours, or a newer version of the app wrote it.
    """
    magic, version, record_size = HEADER.unpack(header)
    if magic != MAGIC:
        message = _("{path} is not a metrics file of this app; leave this folder out of the runs.")
        raise ValueError(message.format(path=told(path)))
    if version != VERSION or record_size != RECORD.size:
        raise ValueError(
            _(
                "{path} has metrics format {version} with {size} bytes a record; this app reads "
                "format {known} with {known_size}. Update the app."
            ).format(
                path=told(path),
                version=version,
                size=record_size,
                known=VERSION,
                known_size=RECORD.size,
            )
        )


def parse_records(data: bytes) -> tuple[Records, npt.NDArray[np.bool_]]:
    """Return the whole records in `data` and, for each, whether its checksum holds.

    A part of a record at the end is left out: its writer may be half way.
    """
    num_records = len(data) // RECORD.size
    records = np.frombuffer(data, RECORD_DTYPE, count=num_records)
    rows, starts = memoryview(data), range(0, num_records * RECORD.size, RECORD.size)
    checksums = [zlib.crc32(rows[start : start + CHECKED_BYTES]) for start in starts]
    return records, records["checksum"] == np.array(checksums, np.uint32)


def num_sound_bytes(data: bytes) -> int:
    """Return where the last record with a good checksum ends; what follows was never committed."""
    _records, good = parse_records(data)
    return (int(np.flatnonzero(good)[-1]) + 1) * RECORD.size if good.any() else 0


def superseded(records: Records) -> npt.NDArray[np.bool_]:
    """Say for each record whether a later attempt has started at or before its step."""
    redone = np.zeros(records.shape, np.bool_)
    steps, attempts = records["step"], records["attempt"]
    redone_from = math.inf
    for attempt in np.unique(attempts)[::-1]:
        mine = attempts == attempt
        redone |= mine & (steps >= redone_from)
        redone_from = min(redone_from, int(steps[mine].min()))
    return redone


def newest(records: Records) -> Records:
    """Return the records that no later attempt has done again: one for each step."""
    return records[~superseded(records)]


def csv_lines(records: Records, lines_per_chunk: int = 2000) -> Iterator[str]:
    """Yield the records as CSV text, header first, many lines at a time."""
    yield ",".join(COLUMNS) + "\n"
    for start in range(0, len(records), lines_per_chunk):
        rows = records[list(COLUMNS)][start : start + lines_per_chunk].tolist()
        yield "".join(",".join(map(repr, row)) + "\n" for row in rows)


def to_columns(records: Records, names: Sequence[str]) -> dict[str, list[float | None]]:
    """Return the named fields as lists fit for JSON: a number that is not finite becomes None."""
    return {name: _finite_list(records[name]) for name in names}


def _finite_list(values: npt.NDArray[np.generic]) -> list[float | None]:
    listed: list[float | None] = values.tolist()
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return listed
    return [value if value is not None and math.isfinite(value) else None for value in listed]
