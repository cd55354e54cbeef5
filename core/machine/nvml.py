"""What NVIDIA's management library tells of each GPU: its memory, its work, who computes there.

It answers without a CUDA context, which would itself take half a gigabyte of the card. Where the
library or the driver is missing there is nothing to tell.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

VISIBLE: Final = "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuProcess:
    """A process that computes on a GPU; bytes are None where the driver keeps them to itself."""

    pid: int
    num_bytes: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Gpu:
    """A GPU, or a MIG slice of one, at one moment."""

    uuid: str  # what CUDA_VISIBLE_DEVICES may say: "GPU-..." or "MIG-..."
    name: str
    is_slice: bool  # whether it is a part of a card (MIG), with a part of the card's speed
    total_bytes: int
    used_bytes: int  # what all processes hold of it, contexts included
    # share of the last sampling period in which a kernel ran, from 0 to 1; None where it is not
    # told: of a slice, for one
    utilization: float | None
    processes: tuple[GpuProcess, ...]

    @property
    def free_bytes(self) -> int:
        """What nobody holds."""
        return self.total_bytes - self.used_bytes


def visible_gpus() -> tuple[Gpu, ...]:
    """Return the GPUs that CUDA would find here, as CUDA_VISIBLE_DEVICES names them.

    A number there counts the cards in the order of the bus; CUDA counts the fastest first unless
    CUDA_DEVICE_ORDER=PCI_BUS_ID, which is another order only where cards differ.
    """
    with _library() as nvml:
        found = list(_gpus(nvml)) if nvml else []
    return _visible(found, os.environ.get(VISIBLE))


def least_busy_first(gpus: Sequence[Gpu]) -> tuple[Gpu, ...]:
    """Return them by their free memory, the most first; of equals the one with the least to do."""
    return tuple(sorted(gpus, key=lambda gpu: (-gpu.free_bytes, gpu.utilization or 0.0)))


def named_gpu(gpus: Sequence[Gpu], word: str) -> Gpu | None:
    """Return the GPU of a number in this order or of a UUID's beginning; None if unclear."""
    if word.isdecimal():
        return gpus[int(word)] if int(word) < len(gpus) else None
    named = [gpu for gpu in gpus if word and gpu.uuid.startswith(word)]
    return named[0] if len(named) == 1 else None


@contextmanager
def _library() -> Iterator[Any]:
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception:  # noqa: BLE001  no package, no driver, or one that does not answer: no GPUs
        yield None
        return
    try:
        yield pynvml
    finally:
        with suppress(pynvml.NVMLError):  # what it told before is true all the same
            pynvml.nvmlShutdown()


def _gpus(nvml: Any) -> Iterator[Gpu]:  # noqa: ANN401  a module
    """Yield every card, or the slices of one that is cut up; what does not answer is left out."""
    for index in range(_asked(nvml, nvml.nvmlDeviceGetCount) or 0):
        with suppress(nvml.NVMLError):
            card = nvml.nvmlDeviceGetHandleByIndex(index)
            slices = list(_slices(nvml, card))
            places = [(each, True) for each in slices] or [(card, False)]
            yield from (_gpu(nvml, place, is_slice=cut) for place, cut in places)


def _slices(nvml: Any, card: Any) -> Iterator[Any]:  # noqa: ANN401  handles
    if not _asked(nvml, lambda: nvml.nvmlDeviceGetMigMode(card)[0]):
        return
    for index in range(nvml.nvmlDeviceGetMaxMigDeviceCount(card)):
        with suppress(nvml.NVMLError):
            yield nvml.nvmlDeviceGetMigDeviceHandleByIndex(card, index)


def _gpu(nvml: Any, handle: Any, *, is_slice: bool) -> Gpu:  # noqa: ANN401  a handle
    memory = nvml.nvmlDeviceGetMemoryInfo(handle)
    busy = _asked(nvml, lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
    processes = _asked(nvml, lambda: nvml.nvmlDeviceGetComputeRunningProcesses(handle)) or ()
    return Gpu(
        uuid=nvml.nvmlDeviceGetUUID(handle),
        name=nvml.nvmlDeviceGetName(handle),
        is_slice=is_slice,
        total_bytes=int(memory.total),
        used_bytes=int(memory.total - memory.free),  # `used` leaves out what the driver reserves
        utilization=None if busy is None else busy / 100,
        processes=tuple(GpuProcess(pid=p.pid, num_bytes=p.usedGpuMemory) for p in processes),
    )


def _asked(nvml: Any, question: Callable[[], Any]) -> Any:  # noqa: ANN401  whatever it answers
    """Return the answer; None where this device does not know it."""
    try:
        return question()
    except nvml.NVMLError:
        return None


def _visible(gpus: Sequence[Gpu], wanted: str | None) -> tuple[Gpu, ...]:
    """Return what CUDA_VISIBLE_DEVICES leaves: like CUDA, up to the first that is not there."""
    if wanted is None:
        return tuple(gpus)
    visible: list[Gpu] = []
    for word in wanted.split(","):
        gpu = named_gpu(gpus, word.strip())
        if gpu is None:
            break
        visible.append(gpu)
    return tuple(visible)
