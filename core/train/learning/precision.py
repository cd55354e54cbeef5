"""Which number formats a step computes in, and the device it runs on."""

from contextlib import AbstractContextManager, nullcontext

import torch

from core.language import _
from core.machine import usable_cores
from core.train.config import DeviceName, PrecisionName


def pick_device(name: DeviceName) -> torch.device:
    """Return the device that a config asks for; "auto" takes CUDA, then MPS, then the CPU.

    Raises:
        ValueError: If the device is not there.
    """
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto":
        return torch.device(next(kind for kind, found in there.items() if found))
    if not there[name]:
        raise ValueError(
            _("This machine has no {name} device that torch can use; choose auto or cpu.").format(
                name=name
            )
        )
    return torch.device(name)


def device_name(device: torch.device) -> str:
    """Return the product name of an accelerator, or "CPU"."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type.upper()


def num_training_threads() -> int:
    """Return one thread less than there are cores, so that the pages stay quick."""
    return max(usable_cores() - 1, 1)


def compute_in(
    precision: PrecisionName, device: torch.device
) -> AbstractContextManager[None] | torch.autocast:
    """Return the context of a forward pass: bfloat16 autocast, or nothing for fp32."""
    if precision == "fp32":
        return nullcontext()
    return torch.autocast(device.type, dtype=torch.bfloat16)


def candidates(device: torch.device) -> tuple[PrecisionName, ...]:
    """Return the precisions that "auto" tries on a device; the fastest one is taken."""
    if device.type == "cuda":
        return ("bf16",) if torch.cuda.is_bf16_supported() else ("fp32",)
    return ("fp32", "bf16_fp32_attention") if device.type == "cpu" else ("fp32",)
