"""What ends a worker early, in words that help: a reason, a sentence, and the numbers in it."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import psutil

from core.language import N_
from core.train.control.device import DeviceBusyError
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
DISK: Final = N_("The run directory can no longer be written to; what was written is kept.")
ERROR: Final = N_("The worker stopped on an error; stdout.log in the run directory has it.")

# How torch's allocators begin their complaints where they have no exception of their own.
_OUT_OF_MEMORY_WORDS: Final = ("can't allocate memory", "not enough memory", "out of memory")


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """An early end.

    Attributes:
        reason: A word for programs.
        message: A sentence for people, as a message id.
        values: What the braces in the message stand for.
        exit_status: Of the worker's process.
        is_known: False for a mistake of ours, whose traceback belongs in the log.
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
    if is_out_of_memory(error):
        config, prediction = info["config"], info.get("prediction", {})
        actual, free = _held_and_free()
        values = {  # and the settings that would need about half
            "predicted_bytes": sum(prediction.get("memory", {}).values()),
            "actual_bytes": actual,
            "free_bytes": free,
            "batch_size": config.get("batch_size", 1) // 2,
            "accumulation_steps": config.get("accumulation_steps", 1) * 2,
        }
        message = HALVE_THE_BATCH if values["batch_size"] >= 1 else SHORTEN_THE_CONTEXT
        return Failure(reason="out_of_memory", message=message, values=values)
    if isinstance(error, RunStorageError):
        return Failure(reason="disk", message=DISK)
    return Failure(reason="error", message=ERROR, is_known=False)


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an allocation failed: Python's, numpy's, torch's on a CPU, CUDA's or MPS's."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(words in text for words in _OUT_OF_MEMORY_WORDS)


def _held_and_free() -> tuple[int, int]:
    """Return the bytes held at most and free now: of the CUDA device if one is in use."""
    torch = sys.modules.get("torch")  # a failure before the import needs no torch to be told
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        return int(torch.cuda.max_memory_allocated()), int(torch.cuda.mem_get_info()[0])
    return int(psutil.Process().memory_info().rss), int(psutil.virtual_memory().available)
