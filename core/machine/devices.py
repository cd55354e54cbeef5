"""The devices torch can compute on. Needs torch: call it in a child process."""

import platform
from dataclasses import replace
from typing import Final

import psutil

from core.machine.capabilities import cpu_name
from core.machine.dtype_trials import try_dtypes
from core.machine.records import Device
from core.machine.speed import measure_copy, measure_matmul
from core.units import MIB

TIMED_DTYPES: Final = ("float32", "bfloat16")
CPU_SIZE: Final = 1024  # 2.1 GFLOPs: tens of milliseconds on a laptop
ACCELERATOR_SIZE: Final = 8192  # large enough to keep a big GPU busy
CPU_COPY: Final = 128 * MIB
ACCELERATOR_COPY: Final = 512 * MIB  # an H200 keeps 50 MB in its L2 cache


def probe_devices(*, timed: bool = True) -> tuple[Device, ...]:
    """Return the CPU and every accelerator, with dtypes tried and, if `timed`, speeds measured."""
    return tuple(_examine(device, timed=timed) for device in (_cpu(), *_accelerators()))


def _examine(device: Device, *, timed: bool) -> Device:
    dtypes = try_dtypes(device.torch_name)
    if not timed:
        return replace(device, dtypes=dtypes)
    is_cpu = device.kind == "cpu"
    size = CPU_SIZE if is_cpu else ACCELERATOR_SIZE
    able = [d.name for d in dtypes if d.works and d.name in TIMED_DTYPES]
    matmuls = tuple(measure_matmul(device.torch_name, name, size=size) for name in able)
    num_bytes = CPU_COPY if is_cpu else ACCELERATOR_COPY
    copy = measure_copy(device.torch_name, num_bytes=num_bytes)
    return replace(device, dtypes=dtypes, speeds=(*matmuls, copy))


def _cpu() -> Device:
    import torch

    memory = psutil.virtual_memory()
    return Device(
        kind="cpu",
        torch_name="cpu",
        name=cpu_name() or platform.processor() or platform.machine(),
        memory_total=memory.total,
        memory_free=memory.available,
        capability=torch.backends.cpu.get_cpu_capability(),
    )


def _accelerators() -> tuple[Device, ...]:
    import torch

    if torch.cuda.is_available():
        return tuple(_cuda(index) for index in range(torch.cuda.device_count()))
    if torch.backends.mps.is_available():
        return (_mps(),)
    if torch.xpu.is_available():
        return tuple(_xpu(index) for index in range(torch.xpu.device_count()))
    return ()


def _cuda(index: int) -> Device:
    """An NVIDIA device, or an AMD one: ROCm builds of torch answer under torch.cuda too."""
    import torch

    properties = torch.cuda.get_device_properties(index)
    free, total = torch.cuda.mem_get_info(index)
    is_rocm = torch.version.hip is not None
    capability = properties.gcnArchName if is_rocm else f"{properties.major}.{properties.minor}"
    return Device(
        kind="rocm" if is_rocm else "cuda",
        torch_name=f"cuda:{index}",
        name=properties.name,
        memory_total=total,
        memory_free=free,
        capability=capability,
    )


def _mps() -> Device:
    """An Apple GPU: it shares the computer's memory and recommends how much of it to use."""
    import torch

    total = torch.mps.recommended_max_memory()
    return Device(
        kind="mps",
        torch_name="mps",
        name=f"Apple {platform.machine()} GPU",
        memory_total=total,
        memory_free=total - torch.mps.driver_allocated_memory(),
        capability=None,
    )


def _xpu(index: int) -> Device:
    import torch

    properties = torch.xpu.get_device_properties(index)
    return Device(
        kind="xpu",
        torch_name=f"xpu:{index}",
        name=properties.name,
        memory_total=properties.total_memory,
        memory_free=None,
        capability=None,
    )
