"""What the installed torch really does; torch is imported inside functions only.

python -m core.dtypes.libraries.library    # everything, as one line of JSON
"""

import json
import sys
from dataclasses import asdict
from typing import Any

from core.dtypes.libraries.finfo import QUANTITIES
from core.dtypes.libraries.library_records import InfoRow, LibraryReport
from core.dtypes.libraries.torch_operations import torch_dtypes, try_operations


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
    """Ask torch everything, in this process; it imports torch."""
    import torch

    devices = ["cpu"]
    if torch.accelerator.is_available():
        devices.append(str(torch.accelerator.current_accelerator()))
    return LibraryReport(
        torch=torch.__version__,
        devices=tuple(devices),
        operations=tuple(row for device in devices for row in try_operations(device)),
        infos=info_rows(),
    )


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(look())) + "\n")
