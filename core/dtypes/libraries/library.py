"""What the installed torch and ml_dtypes really do; torch is imported inside functions only.

python -m core.dtypes.libraries.library                # everything, as one line of JSON
python -m core.dtypes.libraries.library --value 465    # only casts of that number
"""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any, Final

import ml_dtypes
import numpy as np
import numpy.typing as npt

from core.dtypes.exact import parse_value, to_float
from core.dtypes.libraries.differences import (
    QUANTITIES,
    Telling,
    reader_values,
    telling_values,
)
from core.dtypes.libraries.library_records import CastRow, InfoRow, LibraryReport
from core.dtypes.libraries.torch_operations import torch_dtypes, try_operations
from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.table import FORMATS

_LONG: Final = 64  # long enough for the vector instructions of every processor


def cast_formats() -> tuple[FloatFormat, ...]:
    """Return the formats that are cast to: all floats of at most 16 bits."""
    floats = (fmt for fmt in FORMATS.values() if isinstance(fmt, FloatFormat))
    return tuple(fmt for fmt in floats if fmt.bits <= 16)


def ml_cast(values: npt.NDArray[np.floating[Any]], name: str) -> npt.NDArray[np.float64] | None:
    """Return what ml_dtypes or numpy makes of numbers; None where neither has the format."""
    dtype = np.float16 if name == "float16" else getattr(ml_dtypes, name, None)
    if dtype is None:
        return None
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return values.astype(dtype).astype(np.float64)


def torch_cast(value: float, source: str, name: str, length: int) -> tuple[float, int] | None:
    """Return what torch makes of a number, and its bits, in an array of `length` of them.

    The first element is looked at: with 64 of them it went through vector instructions.
    """
    import torch

    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        return None
    cast = torch.full((length,), value, dtype=getattr(torch, source)).to(dtype)
    unsigned = {1: torch.uint8, 2: torch.uint16, 4: torch.uint32}[dtype.itemsize]
    return float(cast[0].to(torch.float64)), int(cast.view(unsigned)[0])


def cast_rows(pairs: Iterable[tuple[FloatFormat, Telling]]) -> tuple[CastRow, ...]:
    """Cast each number to its format with everybody."""
    rows = []
    for fmt, telling in pairs:
        row = row_without_torch(fmt, telling)
        alone = torch_cast(telling.value, telling.source, fmt.name, 1)
        many = torch_cast(telling.value, telling.source, fmt.name, _LONG)
        if alone is not None and many is not None:
            row = replace(row, torch=alone[0], torch_code=alone[1], torch_code_long=many[1])
        rows.append(row)
    return tuple(rows)


def row_without_torch(fmt: FloatFormat, telling: Telling) -> CastRow:
    """Cast a number with our codec and ml_dtypes, which cost a server nothing."""
    theirs = ml_cast(np.array([telling.value], dtype=telling.source), fmt.name)
    return CastRow(
        format=fmt.name,
        case=telling.case,
        source=telling.source,
        value=telling.value,
        ours=float(fmt.round([telling.value])[0]),
        torch=None,
        torch_code=None,
        torch_code_long=None,
        ml_dtypes=None if theirs is None else float(theirs[0]),
    )


def telling_pairs() -> list[tuple[FloatFormat, Telling]]:
    """Return every telling number with its format."""
    return [(fmt, telling) for fmt in cast_formats() for telling in telling_values(fmt)]


def reader_pairs(text: str) -> list[tuple[FloatFormat, Telling]]:
    """Return the reader's number with every format.

    Raises:
        ValueError: If the text is no number.
    """
    value = to_float(parse_value(text))
    return [(fmt, telling) for fmt in cast_formats() for telling in reader_values(value)]


def info_rows() -> tuple[InfoRow, ...]:
    """Return what torch.finfo and torch.iinfo say about every number dtype."""
    numbers = {n: d for n, d in torch_dtypes().items() if n.startswith(("float", "bf", "int", "u"))}
    return tuple(
        _info_row(name, dtype, quantity)
        for name, dtype in numbers.items()
        for quantity in QUANTITIES
        if dtype.is_floating_point or quantity == "max"
    )


def _info_row(name: str, dtype: Any, quantity: str) -> InfoRow:  # noqa: ANN401  torch.dtype
    import torch

    try:
        info = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
        value = float(getattr(info, quantity))
    except (RuntimeError, TypeError, AttributeError) as error:
        return InfoRow(dtype=name, quantity=quantity, value=None, message=str(error))
    return InfoRow(dtype=name, quantity=quantity, value=value)


def look() -> LibraryReport:
    """Ask both libraries everything, in this process; it imports torch."""
    import torch

    devices = ["cpu"]
    if torch.accelerator.is_available():
        devices.append(str(torch.accelerator.current_accelerator()))
    return LibraryReport(
        torch=torch.__version__,
        ml_dtypes=ml_dtypes.__version__,
        devices=tuple(devices),
        casts=cast_rows(telling_pairs()),
        operations=tuple(row for device in devices for row in try_operations(device)),
        infos=info_rows(),
    )


def main() -> None:
    """Print what the libraries do, as JSON."""
    parser = argparse.ArgumentParser(description="Ask torch and ml_dtypes what they do.")
    parser.add_argument("--value", help="cast only this number")
    arguments = parser.parse_args()
    if arguments.value is None:
        found: Any = asdict(look())
    else:
        found = [asdict(row) for row in cast_rows(reader_pairs(arguments.value))]
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
