"""Where a tensor lives and what moves it, on this machine; each row runs."""

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import Any, Final

import torch
from torch import Tensor

from core.expressions.dispatch import storage_id


@dataclass(frozen=True, kw_only=True, slots=True)
class OnDevice:
    """What a row did."""

    code: str  # the line
    device: str = ""  # of the result; empty if it was refused
    num_bytes: int = 0  # newly allocated; 0 where the same tensor comes back
    error: str = ""  # the words of PyTorch, after the type of the error


DEVICE_ROWS: Final = (
    "x = torch.zeros(32, 32)",
    "y = torch.zeros(32, 32)",
    'x.to("cpu")',
    'm = torch.zeros(32, 32, device="meta")',
    "x + m",
    "m.cpu()",
    'x.to("cuda")',
    'torch.zeros(32, 32, device="cuda")',
    'x + x.to("cuda")',
)


def on_this_machine() -> tuple[OnDevice, ...]:
    """Run every row; where there is no GPU, those that need one say what PyTorch says.

    With a GPU they run in a separate process: what uses it once keeps some of its memory.

    Raises:
        subprocess.SubprocessError: If that process fails or takes longer than a minute.
    """
    if not torch.cuda.is_available():
        return run_rows()
    command = [sys.executable, "-m", "core.tensors.devices"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)  # noqa: S603
    return tuple(OnDevice(**each) for each in json.loads(done.stdout))


def run_rows() -> tuple[OnDevice, ...]:
    """Run every row in this process, each on the tensors of those before it."""
    names: dict[str, Any] = {"torch": torch}
    return tuple(_ran(code, names) for code in DEVICE_ROWS)


def _ran(code: str, names: dict[str, Any]) -> OnDevice:
    """Run a row; a name that it assigns is kept in `names`."""
    name, _equals, expression = code.rpartition(" = ")
    known = {storage_id(x) for x in names.values() if isinstance(x, Tensor)}
    try:
        made = eval(expression, names)  # noqa: S307  a row of this file
    except (RuntimeError, AssertionError) as error:  # what a device cannot do
        return OnDevice(code=code, error=f"{type(error).__name__}: {error}")
    if name:
        names[name] = made
    has_new_data = storage_id(made) not in known and not made.is_meta
    num_bytes = made.untyped_storage().nbytes() if has_new_data else 0
    return OnDevice(code=code, device=str(made.device), num_bytes=num_bytes)


if __name__ == "__main__":
    sys.stdout.write(json.dumps([asdict(each) for each in run_rows()]))
