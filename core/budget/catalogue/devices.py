"""Devices as they are sold, as the reader describes them, and the one at hand.

NVIDIA's rows were checked in 2026-11 against copies of the data sheets and against tables of
hmc-tech.com (T4, A100, RTX 4090, L4, L40S), hpctech.co.jp (H100), glennklockwood.com (H100, B200,
GB200), spheron.network (RTX 5090). Reported memory: modal-labs/modal-client#2797 for T4, A10, L4,
L40S, A100 and H100; the others are recalled.

Why long: half of it is the table, a row for each device with its source.
"""

from collections.abc import Mapping
from typing import Final

from core.budget.cluster import DeviceSpec
from core.language import N_, _
from core.machine import Probe
from core.units import GIB, MIB

READ: Final = "2026-11"
# What NVIDIA's driver keeps for itself: of the 81,559 MiB that nvidia-smi reports for an H100,
# torch sees 79.1 GiB; of a B200's 183,359 MiB 178.35 GiB (pytorch/ao#4002).
DRIVER_MIB: Final = 512
# What a process's CUDA context takes of what torch sees: 0.3 to 0.6 GiB for kernels, their stacks
# and cuBLAS. `left_for_tensors` subtracts it; no budget counts it again.
CUDA_CONTEXT: Final = 512 * MIB

_TPU: Final = N_("Austin et al. 2025, How to Scale Your Model; only v5e checked with Google")
_APPLE: Final = N_("Apple prints no FLOP/s: recalled from measurements; memory as Metal allows it")

CUSTOM: Final = N_("as typed in")
MEASURED: Final = N_("measured on this computer; its links are taken as PCIe 3 with 16 lanes")
_LOCAL_HOST_LINK: Final = 16e9  # core.machine does not measure links


def left_for_tensors(seen: float, context: float) -> float:
    """Return what a process can fill of the bytes that torch sees; its context takes the rest."""
    return max(0.0, seen - context)


def sold(  # noqa: PLR0913  one argument for each column of the data sheet
    name: str,
    tflops: dict[str, float],
    *,
    gib: int,
    reported_mib: int,
    gb_per_second: float,
    link: float,
    host_link: float,
    source: str,
    driver_mib: int = DRIVER_MIB,
    sparsity: bool = False,
) -> DeviceSpec:
    """Return a device as it is sold.

    Args:
        name: As its maker writes it.
        tflops: Dtype -> dense TFLOP/s (int8: TOP/s) with fp32 accumulation, never the sparse one.
        gib: Memory on the box. Makers write "GB" and count in 2**30.
        reported_mib: Memory that nvidia-smi, rocm-smi, JAX or Metal reports.
        gb_per_second: Memory bandwidth in 10**9 bytes/s.
        link: To another device of the same machine, GB/s in one direction (data sheets print both
            directions together).
        host_link: To the host, GB/s in one direction.
        source: Where the row comes from, a message id.
        driver_mib: What NVIDIA's driver keeps of that for itself; 0 where there is no CUDA.
        sparsity: Whether the sheet also prints rates with 2:4 sparsity.
    """
    context = CUDA_CONTEXT if driver_mib else 0
    return DeviceSpec(
        name=name,
        peak={dtype: amount * 1e12 for dtype, amount in tflops.items()},
        memory_sold=gib * GIB,
        memory_usable=left_for_tensors((reported_mib - driver_mib) * MIB, context),
        context=context,
        bandwidth=gb_per_second * 1e9,
        link=link * 1e9,
        host_link=host_link * 1e9,
        source=source,
        date=READ,
        sparsity=sparsity,
    )


def tensor_cores(  # noqa: PLR0913  one argument for each dtype of the data sheet
    *,
    bf16: float = 0,
    fp16: float = 0,
    tf32: float = 0,
    fp32: float = 0,
    fp8: float = 0,
    fp4: float = 0,
    int8: float = 0,
) -> dict[str, float]:
    """Return dtype -> dense TFLOP/s, without the dtypes that the device does not multiply."""
    columns = {
        "bfloat16": bf16,
        "float16": fp16,
        "tf32": tf32,
        "float32": fp32,
        "fp8": fp8,
        "fp4": fp4,
        "int8": int8,
    }
    return {dtype: amount for dtype, amount in columns.items() if amount}


DEVICES: Final[Mapping[str, DeviceSpec]] = {
    "t4": sold(
        "T4",
        tensor_cores(fp16=65, fp32=8.1, int8=130),  # Turing has no bf16: torch emulates it
        gib=16, reported_mib=15_360, gb_per_second=320, link=16, host_link=16,
        source=N_("NVIDIA T4 data sheet"),
    ),
    "v100-32gb": sold(
        "V100 SXM2 32 GB",
        tensor_cores(fp16=125, fp32=15.7, int8=62),
        gib=32, reported_mib=32_510, gb_per_second=900, link=150, host_link=16,
        source=N_("NVIDIA V100 data sheet; int8 and reported memory recalled, not checked again"),
    ),
    "rtx-3090": sold(
        "RTX 3090",
        tensor_cores(bf16=71, fp16=71, tf32=35.6, fp32=35.6, int8=284),
        gib=24, reported_mib=24_576, gb_per_second=936, link=56.25, host_link=32, sparsity=True,
        source=N_("NVIDIA GA102 white paper; tensor rates recalled, not checked again"),
    ),
    "rtx-4090": sold(
        "RTX 4090",
        tensor_cores(bf16=165.2, fp16=165.2, tf32=82.6, fp32=82.6, fp8=330.3, int8=660.6),
        gib=24, reported_mib=24_564, gb_per_second=1008, link=32, host_link=32, sparsity=True,
        source=N_("NVIDIA Ada white paper"),
    ),
    "rtx-5090": sold(
        "RTX 5090",
        tensor_cores(bf16=209.5, fp16=209.5, tf32=104.8, fp32=104.8, fp8=419, fp4=1676, int8=838),
        gib=32, reported_mib=32_607, gb_per_second=1792, link=64, host_link=64, sparsity=True,
        source=N_("NVIDIA RTX Blackwell white paper, its sparse figures halved"),
    ),
    "a10": sold(
        "A10",
        tensor_cores(bf16=125, fp16=125, tf32=62.5, fp32=31.2, int8=250),
        gib=24, reported_mib=23_028, gb_per_second=600, link=32, host_link=32, sparsity=True,
        source=N_("NVIDIA A10 data sheet, as in llm-analysis; its 28 GB corrected"),
    ),
    "l4": sold(
        "L4",
        tensor_cores(bf16=121, fp16=121, tf32=60, fp32=30.3, fp8=242, int8=242),
        gib=24, reported_mib=23_034, gb_per_second=300, link=32, host_link=32, sparsity=True,
        source=N_("NVIDIA L4 data sheet, its sparse figures halved; other tables differ"),
    ),
    "l40s": sold(
        "L40S",
        tensor_cores(bf16=362, fp16=362, tf32=183, fp32=91.6, fp8=733, int8=733),
        gib=48, reported_mib=46_068, gb_per_second=864, link=32, host_link=32, sparsity=True,
        source=N_("NVIDIA L40S data sheet"),
    ),
    "a100-40gb": sold(
        "A100 SXM 40 GB",
        tensor_cores(bf16=312, fp16=312, tf32=156, fp32=19.5, int8=624),
        gib=40, reported_mib=40_960, gb_per_second=1555, link=300, host_link=32, sparsity=True,
        source=N_("NVIDIA A100 data sheet"),
    ),
    "a100-80gb": sold(
        "A100 SXM 80 GB",
        tensor_cores(bf16=312, fp16=312, tf32=156, fp32=19.5, int8=624),
        gib=80, reported_mib=81_920, gb_per_second=2039, link=300, host_link=32, sparsity=True,
        source=N_("NVIDIA A100 data sheet"),
    ),
    "h100-pcie": sold(
        "H100 PCIe",
        tensor_cores(bf16=756, fp16=756, tf32=378, fp32=51, fp8=1513, int8=1513),
        gib=80, reported_mib=81_559, gb_per_second=2000, link=300, host_link=64, sparsity=True,
        source=N_("NVIDIA H100 data sheet, its sparse figures halved"),
    ),
    "h100-sxm": sold(
        "H100 SXM",
        tensor_cores(bf16=989.4, fp16=989.4, tf32=494.7, fp32=67, fp8=1978.9, int8=1978.9),
        gib=80, reported_mib=81_559, gb_per_second=3350, link=450, host_link=64, sparsity=True,
        source=N_("NVIDIA H100 white paper, its dense figures"),
    ),
    "h200-sxm": sold(
        "H200 SXM",
        tensor_cores(bf16=989.4, fp16=989.4, tf32=494.7, fp32=67, fp8=1978.9, int8=1978.9),
        gib=141, reported_mib=143_771, gb_per_second=4800, link=450, host_link=64, sparsity=True,
        source=N_("NVIDIA H100 white paper for the rates, H200 data sheet for the memory"),
    ),
    # 7,672 GB/s: 7,680 bits at 3,996 MHz, both edges; the sheet says "up to 8 TB/s"
    "b200": sold(
        "B200",
        tensor_cores(bf16=2250, fp16=2250, tf32=1125, fp32=75, fp8=4500, fp4=9000, int8=4500),
        gib=180, reported_mib=183_359, gb_per_second=7672, link=900, host_link=64, sparsity=True,
        source=N_("NVIDIA HGX B200 data sheet, its sparse figures halved; bandwidth as queried"),
    ),
    # 225 GB/s to the host: half of the superchip's NVLink-C2C, one direction
    "gb200": sold(
        "GB200 (one GPU)",
        tensor_cores(bf16=2500, fp16=2500, tf32=1250, fp32=80, fp8=5000, fp4=10_000, int8=5000),
        gib=186, reported_mib=189_471, gb_per_second=8000, link=900, host_link=225, sparsity=True,
        source=N_("NVIDIA GB200 data sheet, halved twice: one GPU, no sparsity; host link a guess"),
    ),
    # AMD, Google and Apple
    "mi250x": sold(
        "MI250X (one of two GCDs)",  # torch shows each GCD as a device of its own
        tensor_cores(bf16=191.5, fp16=191.5, fp32=23.9, int8=191.5),
        gib=64, reported_mib=65_520, gb_per_second=1638, link=200, host_link=32, driver_mib=0,
        source=N_("AMD MI250X data sheet, halved for one GCD; recalled, not checked again"),
    ),
    "mi300x": sold(
        "MI300X",
        tensor_cores(bf16=1307, fp16=1307, tf32=654, fp32=163, fp8=2615, int8=2615),
        gib=192, reported_mib=196_592, gb_per_second=5300, link=448, host_link=64,
        driver_mib=0, sparsity=True,
        source=N_("AMD MI300X data sheet; rates but FP8 recalled, not checked again"),
    ),
    "mi355x": sold(
        "MI355X",
        tensor_cores(bf16=2517, fp16=2517, fp32=157, fp8=5033, fp4=10_066, int8=5033),
        gib=288, reported_mib=294_896, gb_per_second=8000, link=537.6, host_link=64,
        driver_mib=0, sparsity=True,
        source=N_("AMD MI355X data sheet; recalled, not checked again"),
    ),
    "tpu-v5e": sold(
        "TPU v5e",
        tensor_cores(bf16=197, int8=393),
        gib=16, reported_mib=16_128, gb_per_second=819, link=45, host_link=16, driver_mib=0,
        source=_TPU,
    ),
    "tpu-v5p": sold(
        "TPU v5p",
        tensor_cores(bf16=459, int8=918),
        gib=96, reported_mib=98_038, gb_per_second=2800, link=90, host_link=16, driver_mib=0,
        source=_TPU,
    ),
    "tpu-v6e": sold(
        "TPU v6e",
        tensor_cores(bf16=920, int8=1840),
        gib=32, reported_mib=32_000, gb_per_second=1600, link=90, host_link=32, driver_mib=0,
        source=_TPU,
    ),
    # Metal recommends three quarters of the shared memory, and it is the host's; the link is
    # Thunderbolt 4, then 5
    "m2-max": sold(
        "M2 Max (96 GB)",
        tensor_cores(bf16=13.6, fp16=13.6, fp32=13.6),
        gib=96, reported_mib=73_728, gb_per_second=400, link=5, host_link=400, driver_mib=0,
        source=_APPLE,
    ),
    "m4-max": sold(
        "M4 Max (128 GB)",
        tensor_cores(bf16=18, fp16=18, fp32=18),
        gib=128, reported_mib=98_304, gb_per_second=546, link=10, host_link=546, driver_mib=0,
        source=_APPLE,
    ),
}  # fmt: skip
"""Key, as in a link -> device; those of one maker together."""


def custom_device(
    *,
    name: str = "",
    memory: float,
    flops_per_second: float,
    bandwidth: float,
    link: float = 32e9,
    host_link: float = 32e9,
) -> DeviceSpec:
    """Return a device that the reader describes: bytes, bytes/s, and dense FLOP/s in 16 bits.

    The links are those of PCIe 4 with 16 lanes until the reader says otherwise.

    Raises:
        ValueError: If a number is negative or beyond any device; the sentence names it.
    """
    return DeviceSpec(
        name=name or _("custom device"),
        peak={"bfloat16": flops_per_second, "float16": flops_per_second},
        memory_sold=memory,
        memory_usable=memory,
        bandwidth=bandwidth,
        link=link,
        host_link=host_link,
        source=CUSTOM,
        date=READ,
        kind="custom",
    )


def local_device(probe: Probe) -> DeviceSpec:
    """Return the device at hand: its memory and its measured speeds, not a data sheet's.

    Where the probe was made without timing, the speeds are 0. What is free was read by a process
    that had its context already; where only the whole memory is known, the context goes off.
    """
    device = probe.best_device
    seen = device.memory_free or device.memory_total or 0
    is_cuda = device.kind == "cuda" and probe.rocm is None
    context = CUDA_CONTEXT if is_cuda and not device.memory_free else 0
    rates = {speed.what: speed.median for speed in device.speeds}
    is_host = device.kind in {"cpu", "mps"}  # the host's memory is the device's
    return DeviceSpec(
        name=device.name,
        peak={
            what.removeprefix("matmul "): rate
            for what, rate in rates.items()
            if what.startswith("matmul ")
        },
        memory_sold=device.memory_total or 0,
        memory_usable=left_for_tensors(seen, context),
        context=context,
        bandwidth=rates.get("copy", 0),
        link=_LOCAL_HOST_LINK,
        host_link=rates.get("copy", 0) if is_host else _LOCAL_HOST_LINK,
        source=MEASURED,
        date=READ,
        kind="measured",
    )
