"""What a GPU tells of a run on it: the memory around the tensors, and how long it had work."""

import os

import torch

from core.machine.nvml import Gpu, visible_gpus
from core.train.config import JSON


def watch_gpu(device: torch.device) -> JSON:
    """Return what a memory event says of the GPU now; nothing where torch's device is none.

    reserved_bytes: What torch's allocator holds of the card, in use or kept for later.
    context_bytes: What else this process holds: CUDA's context, its kernels, its libraries.
    other_bytes: What other processes and the driver hold.
    context_and_other_bytes: The last two as one, where NVML does not tell this process's bytes.
    total_bytes: All that the card has.
    utilization: Share of NVML's last sampling period in which a kernel ran, from 0 to 1; left out
        where there is no NVML, and on a slice of a card.
    """
    if device.type != "cuda":
        return {}
    try:
        gpu = _in_nvml(device)
        reserved = torch.cuda.memory_reserved(device)
        free, total = (gpu.free_bytes, gpu.total_bytes) if gpu else torch.cuda.mem_get_info(device)
    except RuntimeError:  # what it told is not worth the run, which finds out itself if it is lost
        return {}
    around = _around(reserved, total - free, _own_bytes(gpu))
    told = {"reserved_bytes": reserved, **around, "total_bytes": total}
    busy = gpu.utilization if gpu else None
    return told if busy is None else {**told, "utilization": busy}


def _around(reserved: int, used: int, own: int | None) -> JSON:
    """Return what the allocator does not hold of the bytes that are used."""
    if own is None or not reserved <= own <= used:  # in a container a pid is another's outside
        return {"context_and_other_bytes": max(used - reserved, 0)}
    return {"context_bytes": own - reserved, "other_bytes": used - own}


def _own_bytes(gpu: Gpu | None) -> int | None:
    mine = [each.num_bytes for each in gpu.processes if each.pid == os.getpid()] if gpu else []
    return mine[0] if mine else None


def _in_nvml(device: torch.device) -> Gpu | None:
    """Return the device as NVML knows it: by its uuid, which torch writes without its prefix."""
    gpus = visible_gpus()
    uuid = str(torch.cuda.get_device_properties(device).uuid)
    named = [gpu for gpu in gpus if gpu.uuid.endswith(uuid)]
    if not named and len(gpus) == 1:
        return gpus[0]
    return named[0] if named else None
