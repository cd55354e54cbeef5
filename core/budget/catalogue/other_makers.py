"""Devices of AMD, Google, Huawei and Apple: a row each, with its speeds and the memory left."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from core.budget.catalogue.data_sheet import sold as sold_by
from core.budget.catalogue.data_sheet import tensor_cores
from core.budget.catalogue.usable_memory import amd, metal, seen, tpu
from core.budget.cluster import DeviceSpec
from core.language import N_

_TPU: Final = N_(
    "Google's documentation of the TPU (cloud.google.com/tpu/docs, read 2026-11); host link: "
    "Austin et al. 2025, How to Scale Your Model"
)
_APPLE: Final = N_("Apple prints no FLOP/s: recalled from measurements; memory as Metal allows it")
sold_by_amd = partial(sold_by, maker="AMD")
sold_by_google = partial(sold_by, maker="Google")
sold_by_huawei = partial(sold_by, maker="Huawei")
sold_by_apple = partial(sold_by, maker="Apple")

OTHER_MAKERS: Final[Mapping[str, DeviceSpec]] = {
    "mi250x": sold_by_amd(
        "MI250X (one of two GCDs)",  # torch shows each GCD as a device of its own
        tensor_cores(bf16=191.5, fp16=191.5, fp32=47.9, int8=191.5),
        usable=amd(64),
        has_context=False, gib=64, gb_per_second=1638, link=200, pair_link=50, host_link=32,
        known="claimed",
        source=N_(
            "AMD MI250X data sheet, halved for one GCD; recalled, not checked again; fp32 of the "
            "matrix units (the vector units have 23.9); links: ROCm documentation, mi250"
        ),
    ),
    "mi300x": sold_by_amd(
        "MI300X",
        tensor_cores(bf16=1307, fp16=1307, tf32=654, fp32=163, fp8=2615, int8=2615),
        usable=amd(192),
        has_context=False, gib=192, gb_per_second=5300, link=448, pair_link=64, host_link=64,
        sparsity=True,
        known="claimed",
        source=N_("AMD MI300X data sheet; rates but FP8 recalled, not checked again"),
    ),
    "mi325x": sold_by_amd(
        "MI325X",
        tensor_cores(bf16=1307.4, fp16=1307.4, tf32=653.7, fp32=163.4, fp8=2614.9, int8=2614.9),
        usable=seen({255.98: "ROCm/TheRock#2118"}),
        has_context=False, gib=256, gb_per_second=6000, link=448, pair_link=64, host_link=64,
        sparsity=True,
        doubts={"int8": "claimed"},
        source=N_(
            "AMD MI325X data sheet as in awesomeagents.ai and in stas00/ml-engineering, "
            "accelerator (2026-08); int8 taken as FP8, 2,600 in the second"
        ),
    ),
    "mi355x": sold_by_amd(
        "MI355X",
        tensor_cores(bf16=2517, fp16=2517, fp32=157, fp8=5033, fp4=10_066, int8=5033),
        usable=seen({287.98: "ROCm/TheRock#2118"}),
        has_context=False, gib=288, gb_per_second=8000, link=537.6, pair_link=76.8, host_link=64,
        sparsity=True,
        known="claimed",
        source=N_("AMD MI355X data sheet; recalled, not checked again"),
    ),
    "tpu-v5e": sold_by_google(
        "TPU v5e",
        tensor_cores(bf16=197, int8=393),
        usable=tpu(15.75),
        has_context=False, gib=16, gb_per_second=819, link=200, pair_link=50, host_link=16,
        doubts={"host_link": "claimed"},
        source=_TPU,
    ),
    "tpu-v5p": sold_by_google(
        "TPU v5p",
        tensor_cores(bf16=459, int8=918),
        usable=tpu(95.74),  # Google prints 95 GiB, a runtime reported more
        has_context=False, gib=96, gb_per_second=2765, link=600, pair_link=100, host_link=16,
        doubts={"host_link": "claimed", "int8": "claimed"},
        source=N_(
            "Google's documentation of the TPU (cloud.google.com/tpu/docs, read 2026-11); host "
            "link and int8: Austin et al. 2025, How to Scale Your Model"
        ),
    ),
    "tpu-v6e": sold_by_google(
        "TPU v6e",
        tensor_cores(bf16=918, int8=1836),
        usable=tpu(31.25),
        has_context=False, gib=32, gb_per_second=1638, link=400, pair_link=100, host_link=32,
        doubts={"host_link": "claimed"},
        source=_TPU,
    ),
    # Metal recommends three quarters of the shared memory, and it is the host's; the link is
    # Thunderbolt 4, then 5
    "ascend-910b2": sold_by_huawei(
        # its fp32 rate stands in no table that could be read
        "Ascend 910B2",
        tensor_cores(bf16=353.8, fp16=353.8, int8=707.9),
        usable=seen({60.96: "vllm-project/vllm-ascend#1127", 60.97: "zai-org/CogVideo#63"}),
        has_context=False, gib=64, gb_per_second=1600, link=196, pair_link=28, host_link=32,
        known="claimed",
        source=N_(
            "Huawei prints no data sheet: 24 cores of 8,192 FLOP a cycle at 1.8 GHz, as in "
            "volcengine/verl, flops_counter.py (354); tables disagree (256 to 400 in 16 bits); "
            "bandwidth: a simulator's table of 910B2, 910B3 and 910B4 (read 2026-11); HCCS: "
            "ArthurChiao's table of GPUs (2024-02); PCIe 4 to the host assumed"
        ),
    ),
    "m2-max": sold_by_apple(
        "M2 Max (96 GB)",
        tensor_cores(bf16=13.6, fp16=13.6, fp32=13.6),
        usable=metal(96),
        has_context=False, gib=96, gb_per_second=400, link=5, host_link=400,
        known="claimed",
        source=_APPLE,
    ),
    "m3-pro": sold_by_apple(
        # 18 GPU cores at the clock of the 14 that were measured; Thunderbolt 4 assumed
        "M3 Pro (36 GB)",
        tensor_cores(bf16=6.39, fp16=6.39, fp32=6.39),
        usable=metal(36),
        has_context=False, gib=36, gb_per_second=150, link=5, host_link=150,
        known="claimed",
        source=N_(
            "4.97 TFLOP/s of its 14 cores as in exo-explore/exo, device_capabilities.py, by the "
            "ratio of 18 cores; bandwidth as Apple says it (gigazine, 2023-11)"
        ),
    ),
    "m4": sold_by_apple(
        "M4 (32 GB)",
        tensor_cores(bf16=4.26, fp16=4.26, fp32=4.26),
        usable=metal(32),
        has_context=False, gib=32, gb_per_second=120, link=5, host_link=120,
        known="claimed",
        source=N_(
            "fp32 recalled from cpu-monkey by exo-explore/exo, device_capabilities.py; bandwidth "
            "and Thunderbolt 4 as Apple says them (neowin, 2024-10)"
        ),
    ),
    "m4-max": sold_by_apple(
        "M4 Max (128 GB)",
        tensor_cores(bf16=18, fp16=18, fp32=18),
        usable=metal(128),
        has_context=False, gib=128, gb_per_second=546, link=10, host_link=546,
        known="claimed",
        source=_APPLE,
    ),
}  # fmt: skip
"""Key, as in a link -> device; those of one maker together."""
