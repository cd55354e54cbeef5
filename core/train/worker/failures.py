"""What ends a worker early, in words that help: a reason, a sentence, and the numbers in it."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import psutil

from core.language import N_
from core.machine.nvml import visible_gpus
from core.train.control.device import DeviceBusyError, DeviceGoneError, NoSuchGpuError
from core.train.control.ranks import RanksError
from core.train.run.disk import RunStorageError

EXIT_BUSY: Final = 75  # EX_TEMPFAIL of sysexits.h: try again later
EXIT_FAILED: Final = 1

HALVE_THE_BATCH: Final = N_(
    "Out of memory: the run was predicted to need {predicted_bytes}, the process held "
    "{actual_bytes} when it failed and {free_bytes} were free. Halve the batch to {batch_size} and "
    "set the accumulation steps to {accumulation_steps}: the result is the same."
)
SHORTEN_THE_CONTEXT: Final = N_(
    "Out of memory: the run was predicted to need {predicted_bytes}, the process held "
    "{actual_bytes} when it failed and {free_bytes} were free. The batch is one sequence already: "
    "choose a shorter context or a smaller model."
)
# The same where the device no longer says how much is free.
HALVE_THE_BATCH_BLIND: Final = N_(
    "Out of memory: the run was predicted to need {predicted_bytes} and held {actual_bytes} when "
    "it failed. Halve the batch to {batch_size} and set the accumulation steps to "
    "{accumulation_steps}: the result is the same."
)
SHORTEN_THE_CONTEXT_BLIND: Final = N_(
    "Out of memory: the run was predicted to need {predicted_bytes} and held {actual_bytes} when "
    "it failed. The batch is one sequence already: choose a shorter context or a smaller model."
)
DEVICE_GONE: Final = N_(
    "This run trains on a GPU, and torch finds none that it can use here now. Bring the GPU back "
    "and resume, or start a new run on the CPU."
)
GPU_GONE: Final = N_(
    "The GPU that this run names is not here now. Bring it back (nvidia-smi -L lists those that "
    "are) and resume, or start a new run on another one."
)
DEVICE_LOST: Final = N_(
    "The GPU no longer answers. The last checkpoint is kept: look at the GPU with nvidia-smi, "
    "restart the machine if it is missing there, then resume."
)
DEVICE_TAKEN: Final = N_(
    "Another process keeps the GPU to itself, or the GPU is not ready. End that process "
    "(nvidia-smi names it) and resume."
)
NO_KERNELS: Final = N_(
    "This build of torch has no kernels for this GPU. Install a build that lists its compute "
    "capability, or start a new run on the CPU."
)
DISK: Final = N_("The run directory can no longer be written to; what was written is kept.")
ERROR: Final = N_("The worker stopped on an error; stdout.log in the run directory has it.")

# How torch's allocators begin their complaints where they have no exception of their own.
_OUT_OF_MEMORY_WORDS: Final = (
    "can't allocate memory",
    "not enough memory",
    "out of memory",
    "cublas_status_alloc_failed",
    "cudnn_status_alloc_failed",
)
# What we raise, and what the CUDA runtime says -> a word for programs, a sentence for people.
_OUR_TROUBLES: Final = (
    (RunStorageError, "disk", DISK),
    (DeviceGoneError, "device_gone", DEVICE_GONE),
    (NoSuchGpuError, "device_gone", GPU_GONE),
)
_GPU_TROUBLES: Final = {
    "no kernel image is available": ("no_kernels", NO_KERNELS),
    "busy or unavailable": ("device_taken", DEVICE_TAKEN),
    "no cuda-capable device": ("device_lost", DEVICE_LOST),
    "uncorrectable ecc error": ("device_lost", DEVICE_LOST),
    "unspecified launch failure": ("device_lost", DEVICE_LOST),
    "cuda error: unknown error": ("device_lost", DEVICE_LOST),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """An early end: a word for programs, and a message id with values for its braces for people.

    A mistake of ours is not known: its traceback belongs in the log.
    """

    reason: str
    message: str
    values: Mapping[str, float] = field(default_factory=dict)
    exit_status: int = EXIT_FAILED
    is_known: bool = True


def failure_of(error: BaseException, info: Mapping[str, Any]) -> Failure:
    """Return what an exception means for the run that run.json describes."""
    if isinstance(error, DeviceBusyError):
        return Failure(reason="device_busy", message=str(error), exit_status=EXIT_BUSY)
    if isinstance(error, RanksError):
        return Failure(reason=error.reason, message=str(error), values=error.values)
    if is_out_of_memory(error):
        return _out_of_memory(error, info)
    for kind, reason, message in _OUR_TROUBLES:
        if isinstance(error, kind):
            return Failure(reason=reason, message=message)
    for words, (reason, message) in _GPU_TROUBLES.items():
        if isinstance(error, RuntimeError) and words in str(error).lower():
            return Failure(reason=reason, message=message)
    return Failure(reason="error", message=ERROR, is_known=False)


def _out_of_memory(error: BaseException, info: Mapping[str, Any]) -> Failure:
    config, prediction = info["config"], info.get("prediction", {})
    values = {  # and the settings that would need about half
        "predicted_bytes": sum(prediction.get("memory", {}).values()),
        **_held_and_free(),
        **_others_on_the_gpu(error),
        "batch_size": config.get("batch_size", 1) // 2,
        "accumulation_steps": config.get("accumulation_steps", 1) * 2,
    }
    if "free_bytes" in values:
        message = HALVE_THE_BATCH if values["batch_size"] >= 1 else SHORTEN_THE_CONTEXT
    else:
        blind = (HALVE_THE_BATCH_BLIND, SHORTEN_THE_CONTEXT_BLIND)
        message = blind[values["batch_size"] < 1]
    return Failure(reason="out_of_memory", message=message, values=values)


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an allocation failed: Python's, numpy's, torch's on a CPU, CUDA's or MPS's."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(words in text for words in _OUT_OF_MEMORY_WORDS)


def _held_and_free() -> dict[str, int]:
    """Return the bytes held at most and free now: of the CUDA device if one is in use."""
    torch = sys.modules.get("torch")  # a failure before the import needs no torch to be told
    if torch is None or not torch.cuda.is_initialized():
        free = psutil.virtual_memory().available
        return {"actual_bytes": psutil.Process().memory_info().rss, "free_bytes": free}
    held = {"actual_bytes": int(torch.cuda.max_memory_allocated())}
    try:
        return {**held, "free_bytes": int(torch.cuda.mem_get_info()[0])}
    except RuntimeError:  # a full or broken GPU refuses even this question
        return held


def _others_on_the_gpu(error: BaseException) -> dict[str, int]:
    """Return how many other processes hold how many bytes of the GPU that is full; {} if none do.

    The GPU is the only visible one, to which the worker was pinned. Inside a container the driver
    may give the process numbers of the world outside: then nobody can tell who is another.
    """
    if not any(name in str(error).lower() for name in ("cuda", "cublas", "cudnn")):
        return {}
    try:
        (gpu,) = visible_gpus()
    except Exception:  # noqa: BLE001  whatever it is: the failure itself must be written down
        return {}
    others = [process for process in gpu.processes if process.pid != os.getpid()]
    is_told = len(others) < len(gpu.processes) or all(psutil.pid_exists(it.pid) for it in others)
    held = [process.num_bytes for process in others if process.num_bytes is not None]
    if not others or not is_told or len(held) < len(others):
        return {}
    return {"others": len(others), "others_bytes": sum(held)}
