"""Ask torch what this computer can do: the program of the probing child process.

python -m core.machine.probe

It names the processor and its units, finds every device, tries every dtype there, and has products
and copies timed. Torch is imported inside functions.
"""

import argparse
import json
import platform
import re
import statistics
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import psutil

from core.dtypes.libraries.torch_operations import complaint, torch_dtypes
from core.machine.kept_probe import Device, DtypeVerdict, Probe, Speed, Trial
from core.machine.machine import describe_machine
from core.machine.matmul_timing import seconds_of
from core.units import MIB

if TYPE_CHECKING:
    import torch


# The names torch.cpu.get_capabilities uses -> the names people use.
FEATURES: Final = {
    "avx2": "AVX2",
    "avx512_f": "AVX-512",
    "avx512_bf16": "AVX-512 BF16",
    "avx512_fp16": "AVX-512 FP16",
    "amx_tile": "AMX",
    "amx_bf16": "AMX BF16",
    "neon": "NEON",
    "bf16": "Arm BF16",
    "sve": "SVE",
    "sme": "SME",
}
_LIBRARIES: Final = {"oneAPI Math Kernel Library": "oneMKL", "MKL-DNN": "oneDNN"}
_KERNEL_LINE: Final = re.compile(
    r"(oneAPI Math Kernel Library|MKL-DNN|OpenMP) (?:Version )?([^\s-]+)"
)
SIDE: Final = 16  # cuBLASLt wants multiples of 16 for 8-bit types; small enough to cost nothing
TIMED_DTYPES: Final = ("float32", "bfloat16")
NUM_RUNS: Final = 7  # after one warm-up
CPU_SIZE: Final = 1024  # 2.1 GFLOPs: tens of milliseconds on a laptop
ACCELERATOR_SIZE: Final = 8192  # large enough to keep a big GPU busy
CPU_COPY: Final = 128 * MIB
ACCELERATOR_COPY: Final = 512 * MIB  # an H200 keeps 50 MB in its L2 cache


def probe_here(*, timed: bool = True) -> Probe:
    """Probe in this process; it imports torch."""
    import torch

    return Probe(
        torch=torch.__version__,
        cuda=torch.version.cuda,
        rocm=torch.version.hip,
        kernels=kernel_libraries(),
        num_threads=torch.get_num_threads(),
        cpu_name=cpu_name() or describe_machine().processor,
        features=cpu_features(),
        devices=probe_devices(timed=timed),
    )


def cpu_features() -> tuple[tuple[str, bool], ...]:
    """Return the matrix and vector units that torch looks for on this architecture."""
    import torch.cpu

    found = torch.cpu.get_capabilities()
    return tuple((label, bool(found[key])) for key, label in FEATURES.items() if key in found)


def cpu_name() -> str:
    """Return the processor's name as torch reads it, "" when it cannot."""
    import torch.cpu

    return str(torch.cpu.get_capabilities().get("cpu_name", ""))


def kernel_libraries() -> tuple[str, ...]:
    """Return the libraries under torch that do the computing, with their versions."""
    import torch

    lines = torch.__config__.show().splitlines()
    found = [match for line in lines if (match := _KERNEL_LINE.search(line))]
    names = [f"{_LIBRARIES.get(match[1], match[1])} {match[2]}" for match in found]
    if torch.version.cuda and torch.backends.cudnn.is_available():
        names.append(f"cuDNN {torch.backends.cudnn.version()}")
    return tuple(names)


def probe_devices(*, timed: bool = True) -> tuple[Device, ...]:
    """Return the CPU and every accelerator, with dtypes tried and, if `timed`, speeds measured."""
    return tuple(_examine(device, timed=timed) for device in (_cpu(), *_accelerators()))


def try_dtypes(device: str) -> tuple[DtypeVerdict, ...]:
    """Try every torch dtype on `device` ("cpu", "cuda:0") and say what worked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "experimental" is no verdict
        return tuple(_try_dtype(name, dtype, device) for name, dtype in torch_dtypes().items())


def _examine(device: Device, *, timed: bool) -> Device:
    dtypes = try_dtypes(device.torch_name)
    if not timed:
        return replace(device, dtypes=dtypes)
    is_cpu = device.kind == "cpu"
    size = CPU_SIZE if is_cpu else ACCELERATOR_SIZE
    able = [d.name for d in dtypes if d.works and d.name in TIMED_DTYPES]
    place, num_bytes = device.torch_name, CPU_COPY if is_cpu else ACCELERATOR_COPY
    trials = [partial(measure_matmul, place, name, size=size) for name in able]
    trials.append(partial(measure_copy, place, num_bytes=num_bytes))
    return replace(device, dtypes=dtypes, speeds=tuple(_measured(trials)))


def _measured(trials: Sequence[Callable[[], Speed]]) -> Iterator[Speed]:
    """Yield what could be measured; a GPU that others fill leaves out what does not fit."""
    for trial in trials:
        with suppress(RuntimeError):
            yield trial()


def measure_matmul(device: str, dtype: str, *, size: int) -> Speed:
    """Time C = A B for square matrices of `size`: 2 size**3 FLOPs each (a multiply and an add)."""
    import torch

    a = torch.randn(size, size, device=device).to(getattr(torch, dtype))
    b = torch.randn(size, size, device=device).to(getattr(torch, dtype))
    seconds = _times(lambda: torch.matmul(a, b), device)
    return _speed(f"matmul {dtype}", "FLOP/s", 2 * size**3, seconds)


def measure_copy(device: str, *, num_bytes: int) -> Speed:
    """Time a copy that is larger than the caches: each byte is read once and written once.

    B/s moved are 2 `num_bytes` a copy.
    """
    import torch

    source = torch.zeros(num_bytes, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    seconds = _times(lambda: target.copy_(source), device)
    return _speed("copy", "B/s", 2 * num_bytes, seconds)


def _times(act: Callable[[], object], device: str) -> list[float]:
    import torch

    def wait() -> None:
        if device != "cpu":
            torch.accelerator.synchronize(device)

    act()
    wait()
    # an accelerator answers before it is done
    return [seconds_of(act, wait) for _run in range(NUM_RUNS)]


def _speed(what: str, unit: str, amount: float, seconds: list[float]) -> Speed:
    return Speed(
        what=what,
        unit=unit,
        median=amount / statistics.median(seconds),
        low=amount / max(seconds),
        high=amount / min(seconds),
        num_runs=len(seconds),
    )


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
    try:
        free, total = torch.cuda.mem_get_info(index)
    except RuntimeError:  # it is too full even for that
        free, total = None, properties.total_memory
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


def _try_dtype(name: str, dtype: "torch.dtype", device: str) -> DtypeVerdict:
    import torch

    def ones() -> torch.Tensor:
        return torch.ones(SIDE, SIDE, device=device).to(dtype)

    plus = 1 if dtype is torch.bool else 2  # True + True is True
    acts: tuple[tuple[str, Callable[[], torch.Tensor], int | None], ...] = (
        ("create", lambda: torch.empty(SIDE, SIDE, dtype=dtype, device=device), None),
        ("convert", ones, 1),
        ("add", lambda: ones() + ones(), plus),
        ("matmul", lambda: ones() @ ones(), SIDE),
    )
    messages = [(operation, complaint(act, expected)) for operation, act, expected in acts]
    trials = (
        Trial(operation=operation, works=not message, message=message)
        for operation, message in messages
    )
    return DtypeVerdict(name=name, item_bytes=dtype.itemsize, trials=tuple(trials))


def main() -> None:
    """Print the probe of this computer as JSON."""
    parser = argparse.ArgumentParser(description="Probe this computer with torch.")
    parser.add_argument("--fast", action="store_true", help="leave the measured speeds out")
    probe = probe_here(timed=not parser.parse_args().fast)
    sys.stdout.write(json.dumps(asdict(probe)) + "\n")


if __name__ == "__main__":
    main()
