"""Devices as they are sold, as the reader describes them, and the one at hand.

NVIDIA's rows were checked in 2026-11 against copies of the data sheets and against tables of
hmc-tech.com (T4, A100, RTX 4090, L4, L40S), hpctech.co.jp (H100), glennklockwood.com (H100, B200,
GB200), spheron.network (RTX 5090).

Why long: one table, a row a device, each with its speeds and what torch reports of its memory.
"""

from collections.abc import Mapping
from typing import Final

from core.budget.catalogue.usable_memory import (
    CUDA_CONTEXT,
    Usable,
    amd,
    less_the_driver,
    metal,
    seen,
    tpu,
)
from core.budget.cluster import DeviceSpec
from core.budget.item import Kind
from core.language import N_, _
from core.machine import Probe
from core.units import GIB

READ: Final = "2026-11"

_TPU: Final = N_("Austin et al. 2025, How to Scale Your Model; only v5e checked with Google")
_APPLE: Final = N_("Apple prints no FLOP/s: recalled from measurements; memory as Metal allows it")

CUSTOM: Final = N_("as typed in")
MEASURED: Final = N_("measured on this computer; its links are taken as PCIe 3 with 16 lanes")
_LOCAL_HOST_LINK: Final = 16e9  # core.machine does not measure links


def sold(  # noqa: PLR0913  one argument for each column of the data sheet
    name: str,
    tflops: dict[str, float],
    *,
    gib: int,
    usable: Usable,
    gb_per_second: float,
    link: float,
    host_link: float,
    source: str,
    has_context: bool = True,
    sparsity: bool = False,
    known: Kind = "data sheet",
) -> DeviceSpec:
    """Return a device as it is sold.

    Args:
        name: As its maker writes it.
        tflops: Dtype -> dense TFLOP/s (int8: TOP/s) with fp32 accumulation, never the sparse one.
        gib: Memory on the box. Makers write "GB" and count in 2**30.
        usable: What a process sees of it.
        gb_per_second: Memory bandwidth in 10**9 bytes/s.
        link: To another device of the same machine, GB/s in one direction (data sheets print both
            directions together).
        host_link: To the host, GB/s in one direction.
        source: Where the row comes from, a message id.
        has_context: Whether a process keeps a CUDA context of its own there.
        sparsity: Whether the sheet also prints rates with 2:4 sparsity.
        known: "claimed" where rates are recalled and no sheet was at hand.
    """
    left = usable.at_most(gib)
    if has_context:
        left = left.less_a_context()
    return DeviceSpec(
        name=name,
        peak={dtype: amount * 1e12 for dtype, amount in tflops.items()},
        memory_sold=gib * GIB,
        memory_usable=left.num_bytes,
        memory_known=left.evidence,
        context=CUDA_CONTEXT if has_context else 0,
        bandwidth=gb_per_second * 1e9,
        link=link * 1e9,
        host_link=host_link * 1e9,
        source=source,
        date=READ,
        sparsity=sparsity,
        known=known,
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
        usable=seen({
            14.56: "Zheng-Chong/CatVTON#133",
            14.75: "hpcaitech/Open-Sora#697",
            14.76: "Morizeyao/GPT2-Chinese#215",
        }),
        gib=16, gb_per_second=320, link=16, host_link=16,
        source=N_("NVIDIA T4 data sheet"),
    ),
    "v100-32gb": sold(
        "V100 SXM2 32 GB",
        tensor_cores(fp16=125, fp32=15.7, int8=62),
        usable=seen({31.74: "liucongg/ChatGLM-Finetuning#73", 31.75: "AetherCortex/Llama-X#12"}),
        gib=32, gb_per_second=900, link=150, host_link=16,
        source=N_("NVIDIA V100 data sheet; int8 and reported memory recalled, not checked again"),
    ),
    "rtx-3090": sold(
        "RTX 3090",
        tensor_cores(bf16=71, fp16=71, tf32=35.6, fp32=35.6, int8=284),
        usable=seen({23.68: "3DTopia/OpenLRM#42", 23.70: "GaoLii/DSP#10"}),
        gib=24, gb_per_second=936, link=56.25, host_link=32, sparsity=True,
        known="claimed",
        source=N_("NVIDIA GA102 white paper; tensor rates recalled, not checked again"),
    ),
    "rtx-4090": sold(
        "RTX 4090",
        tensor_cores(bf16=165.2, fp16=165.2, tf32=82.6, fp32=82.6, fp8=330.3, int8=660.6),
        usable=seen({
            23.52: "vllm-project/vllm#42049",
            23.64: "3DTopia/Phidias-Diffusion#8",
            23.68: "zai-org/CogVideo#36",
        }),
        gib=24, gb_per_second=1008, link=32, host_link=32, sparsity=True,
        source=N_("NVIDIA Ada white paper"),
    ),
    "rtx-5090": sold(
        "RTX 5090",
        tensor_cores(bf16=209.5, fp16=209.5, tf32=104.8, fp32=104.8, fp8=419, fp4=1676, int8=838),
        usable=seen({
            31.36: "TrajectoryCrafter/TrajectoryCrafter#20",
            31.37: "Wan-Video/Wan2.1#465",
        }),
        gib=32, gb_per_second=1792, link=64, host_link=64, sparsity=True,
        source=N_("NVIDIA RTX Blackwell white paper, its sparse figures halved"),
    ),
    "a10": sold(
        "A10",
        tensor_cores(bf16=125, fp16=125, tf32=62.5, fp32=31.2, int8=250),
        usable=seen({21.99: "mistralai/mistral-finetune#69, A10G"}),
        gib=24, gb_per_second=600, link=32, host_link=32, sparsity=True,
        source=N_("NVIDIA A10 data sheet, as in llm-analysis; its 28 GB corrected"),
    ),
    "l4": sold(
        "L4",
        tensor_cores(bf16=121, fp16=121, tf32=60, fp32=30.3, fp8=242, int8=242),
        usable=seen({22.03: "ArcInstitute/evo2#190"}),
        gib=24, gb_per_second=300, link=32, host_link=32, sparsity=True,
        source=N_("NVIDIA L4 data sheet, its sparse figures halved; other tables differ"),
    ),
    "l40s": sold(
        "L40S",
        tensor_cores(bf16=362, fp16=362, tf32=183, fp32=91.6, fp8=733, int8=733),
        usable=seen({44.42: "stepfun-ai/Step-Video-T2V#8", 44.53: "vllm-project/vllm#15598"}),
        gib=48, gb_per_second=864, link=32, host_link=32, sparsity=True,
        source=N_("NVIDIA L40S data sheet"),
    ),
    "a100-40gb": sold(
        "A100 SXM 40 GB",
        tensor_cores(bf16=312, fp16=312, tf32=156, fp32=19.5, int8=624),
        usable=seen({
            39.45: "InternLM/xtuner#88",
            39.50: "TianheWu/CoSeR#10",
            39.56: "databrickslabs/dolly#207",
        }),
        gib=40, gb_per_second=1555, link=300, host_link=32, sparsity=True,
        source=N_("NVIDIA A100 data sheet"),
    ),
    "a100-80gb": sold(
        "A100 SXM 80 GB",
        tensor_cores(bf16=312, fp16=312, tf32=156, fp32=19.5, int8=624),
        usable=seen({
            79.14: "lianqi1008/Control-GIC#6",
            79.25: "HiDream-ai/VAREdit#6",
            79.35: "OSU-NLP-Group/TableLlama#10",
        }),
        gib=80, gb_per_second=2039, link=300, host_link=32, sparsity=True,
        source=N_("NVIDIA A100 data sheet"),
    ),
    "h100-pcie": sold(
        "H100 PCIe",
        tensor_cores(bf16=756, fp16=756, tf32=378, fp32=51, fp8=1513, int8=1513),
        usable=seen({79.11: "vllm-project/vllm#27508"}),
        gib=80, gb_per_second=2000, link=300, host_link=64, sparsity=True,
        source=N_("NVIDIA H100 data sheet, its sparse figures halved"),
    ),
    "h100-sxm": sold(
        "H100 SXM",
        tensor_cores(bf16=989.4, fp16=989.4, tf32=494.7, fp32=67, fp8=1978.9, int8=1978.9),
        usable=seen({79.11: "vllm-project/vllm#27508"}),
        gib=80, gb_per_second=3350, link=450, host_link=64, sparsity=True,
        source=N_("NVIDIA H100 white paper, its dense figures"),
    ),
    "h200-sxm": sold(
        "H200 SXM",
        tensor_cores(bf16=989.4, fp16=989.4, tf32=494.7, fp32=67, fp8=1978.9, int8=1978.9),
        usable=less_the_driver(143_771),
        gib=141, gb_per_second=4800, link=450, host_link=64, sparsity=True,
        source=N_("NVIDIA H100 white paper for the rates, H200 data sheet for the memory"),
    ),
    # 7,672 GB/s: 7,680 bits at 3,996 MHz, both edges; the sheet says "up to 8 TB/s"
    "b200": sold(
        "B200",
        tensor_cores(bf16=2250, fp16=2250, tf32=1125, fp32=75, fp8=4500, fp4=9000, int8=4500),
        usable=seen({178.35: "pytorch/ao#4002"}),
        gib=180, gb_per_second=7672, link=900, host_link=64, sparsity=True,
        source=N_("NVIDIA HGX B200 data sheet, its sparse figures halved; bandwidth as queried"),
    ),
    # 225 GB/s to the host: half of the superchip's NVLink-C2C, one direction
    "gb200": sold(
        "GB200 (one GPU)",
        tensor_cores(bf16=2500, fp16=2500, tf32=1250, fp32=80, fp8=5000, fp4=10_000, int8=5000),
        usable=less_the_driver(189_471),
        gib=186, gb_per_second=8000, link=900, host_link=225, sparsity=True,
        source=N_("NVIDIA GB200 data sheet, halved twice: one GPU, no sparsity; host link a guess"),
    ),
    # AMD, Google and Apple
    "mi250x": sold(
        "MI250X (one of two GCDs)",  # torch shows each GCD as a device of its own
        tensor_cores(bf16=191.5, fp16=191.5, fp32=23.9, int8=191.5),
        usable=amd(64),
        has_context=False, gib=64, gb_per_second=1638, link=200, host_link=32,
        known="claimed",
        source=N_("AMD MI250X data sheet, halved for one GCD; recalled, not checked again"),
    ),
    "mi300x": sold(
        "MI300X",
        tensor_cores(bf16=1307, fp16=1307, tf32=654, fp32=163, fp8=2615, int8=2615),
        usable=amd(192),
        has_context=False, gib=192, gb_per_second=5300, link=448, host_link=64,
        sparsity=True,
        known="claimed",
        source=N_("AMD MI300X data sheet; rates but FP8 recalled, not checked again"),
    ),
    "mi355x": sold(
        "MI355X",
        tensor_cores(bf16=2517, fp16=2517, fp32=157, fp8=5033, fp4=10_066, int8=5033),
        usable=seen({287.98: "ROCm/TheRock#2118"}),
        has_context=False, gib=288, gb_per_second=8000, link=537.6, host_link=64,
        sparsity=True,
        known="claimed",
        source=N_("AMD MI355X data sheet; recalled, not checked again"),
    ),
    "tpu-v5e": sold(
        "TPU v5e",
        tensor_cores(bf16=197, int8=393),
        usable=tpu(15.75),
        has_context=False, gib=16, gb_per_second=819, link=45, host_link=16,
        source=_TPU,
    ),
    "tpu-v5p": sold(
        "TPU v5p",
        tensor_cores(bf16=459, int8=918),
        usable=tpu(95.74),
        has_context=False, gib=96, gb_per_second=2800, link=90, host_link=16,
        source=_TPU,
    ),
    "tpu-v6e": sold(
        "TPU v6e",
        tensor_cores(bf16=920, int8=1840),
        usable=tpu(31.25),
        has_context=False, gib=32, gb_per_second=1600, link=90, host_link=32,
        source=_TPU,
    ),
    # Metal recommends three quarters of the shared memory, and it is the host's; the link is
    # Thunderbolt 4, then 5
    "m2-max": sold(
        "M2 Max (96 GB)",
        tensor_cores(bf16=13.6, fp16=13.6, fp32=13.6),
        usable=metal(96),
        has_context=False, gib=96, gb_per_second=400, link=5, host_link=400,
        known="claimed",
        source=_APPLE,
    ),
    "m4-max": sold(
        "M4 Max (128 GB)",
        tensor_cores(bf16=18, fp16=18, fp32=18),
        usable=metal(128),
        has_context=False, gib=128, gb_per_second=546, link=10, host_link=546,
        known="claimed",
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
        known="claimed",
    )


def local_device(probe: Probe) -> DeviceSpec:
    """Return the device at hand: its memory and its measured speeds, not a data sheet's.

    Where the probe was made without timing, the speeds are 0. What is free was read by a process
    that had its context already; where only the whole memory is known, the context goes off.
    """
    device = probe.best_device
    free = device.memory_free or device.memory_total or 0
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
        memory_usable=max(0.0, free - context),
        context=context,
        bandwidth=rates.get("copy", 0),
        link=_LOCAL_HOST_LINK,
        host_link=rates.get("copy", 0) if is_host else _LOCAL_HOST_LINK,
        source=MEASURED,
        date=READ,
        kind="measured",
        known="measured",
    )
