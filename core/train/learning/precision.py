"""Which number formats a step computes in, and the device it runs on."""

import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Final

import torch

from core.language import _
from core.machine import usable_cores
from core.train.config import DeviceName, PrecisionName

# Nothing is kept in fp32, neither master weights nor moments; nobody uses autocast.
PURE: Final[Mapping[str, torch.dtype]] = {"pure_bf16": torch.bfloat16, "pure_fp16": torch.float16}


def pick_device(name: DeviceName) -> torch.device:
    """Return the device that a config asks for; "auto" takes CUDA, then MPS, then the CPU.

    Raises:
        ValueError: If the device is not there, or torch cannot compute on it.
    """
    if name == "cpu":  # without a look at others: CUDA would take memory for it
        return torch.device(name)
    found = {"cuda": gpu_trouble() is None, "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(kind for kind, is_there in found.items() if is_there))
    if not found[name]:
        if name == "cuda" and (reason := gpu_trouble()):
            message = _("Torch cannot use the GPU here ({reason}); choose auto or cpu.")
            raise ValueError(message.format(reason=reason))
        raise ValueError(
            _("This machine has no {name} device that torch can use; choose auto or cpu.").format(
                name=name
            )
        )
    return torch.device(name)


@cache
def gpu_trouble() -> str | None:
    """Return why torch cannot use CUDA here: None if it can, "" if there is no GPU to speak of.

    A driver that is too old only warns, and a card for which this build has no kernels counts as
    available: so one operation is tried.
    """
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        is_available = torch.cuda.is_available()
    if not is_available:
        return " ".join(_first_line(each.message) for each in told)
    try:
        torch.ones(1, device="cuda").add_(1).item()
    except RuntimeError as error:
        is_full = "out of memory" in str(error)  # full is not broken: who trains there is told so
        return None if is_full else _first_line(error)
    return None


def _first_line(told: object) -> str:
    return str(told).strip().partition("\n")[0]


def device_name(device: torch.device) -> str:
    """Return the product name of an accelerator, or "CPU"."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type.upper()


def num_training_threads() -> int:
    """Return one thread less than there are cores, so that the pages stay quick."""
    return max(usable_cores() - 1, 1)


def compute_in(
    precision: PrecisionName, device: torch.device
) -> AbstractContextManager[None] | torch.autocast:
    """Return the context of a forward pass: autocast to 16 bits, or nothing for one format."""
    if precision == "fp32" or precision in PURE:
        return nullcontext()
    dtype = torch.float16 if precision.startswith("fp16") else torch.bfloat16
    return torch.autocast(device.type, dtype=dtype)


def weight_dtype(precision: PrecisionName) -> torch.dtype:
    """Return the format that the weights are kept in; gradients and moments follow them."""
    return PURE.get(precision, torch.float32)


def multiply_fp32_in_fp32() -> None:
    """Leave TF32 switched off, which would round what fp32 multiplies to 10 bits of mantissa."""
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False


def candidates(device: torch.device) -> tuple[PrecisionName, ...]:
    """Return the precisions that "auto" tries on a device; the fastest one is taken."""
    if device.type == "cuda":
        # Older cards emulate bfloat16: torch calls that supported, and it is slower than fp32.
        is_native = torch.cuda.is_bf16_supported(including_emulation=False)
        return ("bf16",) if is_native else ("fp16", "fp32")
    return ("fp32", "bf16_fp32_attention") if device.type == "cpu" else ("fp32",)
