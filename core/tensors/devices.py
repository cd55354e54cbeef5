"""Where a tensor lives and what moves it, on this machine; each row runs."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final

import torch
from torch import Tensor

from core.expressions.dispatch import storage_id

CUDA: Final = "cuda"


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceRow:
    """One line of code, and what it does."""

    code: str
    run: Callable[[], Tensor]


@dataclass(frozen=True, kw_only=True, slots=True)
class OnDevice:
    """What a row did.

    Attributes:
        code: The line.
        device: Of the result; empty if it was refused.
        num_bytes: Newly allocated; 0 where the same tensor comes back.
        error: The words of PyTorch, after the type of the error.
    """

    code: str
    device: str = ""
    num_bytes: int = 0
    error: str = ""


_X: Final = torch.zeros(32, 32)
DEVICE_ROWS: Final = (
    DeviceRow(code="x = torch.zeros(32, 32)", run=lambda: torch.zeros(32, 32)),
    DeviceRow(code="y = torch.zeros(32, 32)", run=lambda: torch.zeros(32, 32)),
    DeviceRow(code='x.to("cpu")', run=lambda: _X.to("cpu")),
    DeviceRow(code='m = torch.zeros(32, 32, device="meta")',
              run=lambda: torch.zeros(32, 32, device="meta")),
    DeviceRow(code="x + m", run=lambda: _X + torch.zeros(32, 32, device="meta")),
    DeviceRow(code="m.cpu()", run=lambda: torch.zeros(32, 32, device="meta").cpu()),
    DeviceRow(code='x.to("cuda")', run=lambda: _X.to(CUDA)),
    DeviceRow(code='torch.zeros(32, 32, device="cuda")',
              run=lambda: torch.zeros(32, 32, device=CUDA)),
    DeviceRow(code='x + x.to("cuda")', run=lambda: _X + _X.to(CUDA)),
)  # fmt: skip


def on_this_machine() -> tuple[OnDevice, ...]:
    """Run every row; where there is no GPU, those that need one say what PyTorch says.

    With a GPU they run in a process of their own: what uses it once keeps some of its memory.

    Raises:
        subprocess.SubprocessError: If that process fails or takes longer than a minute.
    """
    if not torch.cuda.is_available():
        return run_rows()
    command = [sys.executable, "-m", "core.tensors.devices"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)  # noqa: S603
    return tuple(OnDevice(**each) for each in json.loads(done.stdout))


def run_rows() -> tuple[OnDevice, ...]:
    """Run every row in this process."""
    return tuple(map(_ran, DEVICE_ROWS))


def _ran(row: DeviceRow) -> OnDevice:
    try:
        made = row.run()
    except (RuntimeError, AssertionError) as error:  # what a device cannot do
        return OnDevice(code=row.code, error=f"{type(error).__name__}: {error}")
    is_new = storage_id(made) != storage_id(_X)
    num_bytes = made.untyped_storage().nbytes() if is_new and not made.is_meta else 0
    return OnDevice(code=row.code, device=str(made.device), num_bytes=num_bytes)


if __name__ == "__main__":
    sys.stdout.write(json.dumps([asdict(each) for each in run_rows()]))
