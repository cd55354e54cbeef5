"""NVIDIA's devices: dense peaks with fp32 accumulation, memory, bandwidth and links.

Checked in 2026-11 against copies of the data sheets and against tables of hmc-tech.com (T4, A100,
RTX 4090, L4, L40S), hpctech.co.jp (H100), glennklockwood.com (H100, B200, GB200), spheron.network
(RTX 5090). Reported memory: modal-labs/modal-client#2797 for T4, A10, L4, L40S, A100 and H100;
the others are recalled.
"""

from collections.abc import Mapping
from typing import Final

from core.budget.catalogue.device_row import sold, tensor_cores
from core.budget.cluster import DeviceSpec
from core.language import N_

NVIDIA: Final[Mapping[str, DeviceSpec]] = {
    "t4": sold(
        "T4",
        tensor_cores(fp16=65, fp32=8.1, int8=130),  # Turing has no bf16: torch emulates it
        gib=16,
        reported_mib=15_360,
        gb_per_second=320,
        link=16,
        host_link=16,
        source=N_("NVIDIA T4 data sheet"),
    ),
    "v100-32gb": sold(
        "V100 SXM2 32 GB",
        tensor_cores(fp16=125, fp32=15.7, int8=62),
        gib=32,
        reported_mib=32_510,
        gb_per_second=900,
        link=150,
        host_link=16,
        source=N_("NVIDIA V100 data sheet; int8 and reported memory recalled, not checked again"),
    ),
    "rtx-3090": sold(
        "RTX 3090",
        tensor_cores(bf16=71, fp16=71, tf32=35.6, fp32=35.6, int8=284),
        gib=24,
        reported_mib=24_576,
        gb_per_second=936,
        link=56.25,
        host_link=32,
        source=N_("NVIDIA GA102 white paper; tensor rates recalled, not checked again"),
    ),
    "rtx-4090": sold(
        "RTX 4090",
        tensor_cores(bf16=165.2, fp16=165.2, tf32=82.6, fp32=82.6, fp8=330.3, int8=660.6),
        gib=24,
        reported_mib=24_564,
        gb_per_second=1008,
        link=32,
        host_link=32,
        source=N_("NVIDIA Ada white paper"),
    ),
    "rtx-5090": sold(
        "RTX 5090",
        tensor_cores(bf16=209.5, fp16=209.5, tf32=104.8, fp32=104.8, fp8=419, fp4=1676, int8=838),
        gib=32,
        reported_mib=32_607,
        gb_per_second=1792,
        link=64,
        host_link=64,
        source=N_("NVIDIA RTX Blackwell white paper, its sparse figures halved"),
    ),
    "a10": sold(
        "A10",
        tensor_cores(bf16=125, fp16=125, tf32=62.5, fp32=31.2, int8=250),
        gib=24,
        reported_mib=23_028,
        gb_per_second=600,
        link=32,
        host_link=32,
        source=N_("NVIDIA A10 data sheet, as in llm-analysis; its 28 GB corrected"),
    ),
    "l4": sold(
        "L4",
        tensor_cores(bf16=121, fp16=121, tf32=60, fp32=30.3, fp8=242, int8=242),
        gib=24,
        reported_mib=23_034,
        gb_per_second=300,
        link=32,
        host_link=32,
        source=N_("NVIDIA L4 data sheet, its sparse figures halved; other tables differ"),
    ),
    "l40s": sold(
        "L40S",
        tensor_cores(bf16=362, fp16=362, tf32=183, fp32=91.6, fp8=733, int8=733),
        gib=48,
        reported_mib=46_068,
        gb_per_second=864,
        link=32,
        host_link=32,
        source=N_("NVIDIA L40S data sheet"),
    ),
    "a100-40gb": sold(
        "A100 SXM 40 GB",
        tensor_cores(bf16=312, fp16=312, tf32=156, fp32=19.5, int8=624),
        gib=40,
        reported_mib=40_960,
        gb_per_second=1555,
        link=300,
        host_link=32,
        source=N_("NVIDIA A100 data sheet"),
    ),
    "a100-80gb": sold(
        "A100 SXM 80 GB",
        tensor_cores(bf16=312, fp16=312, tf32=156, fp32=19.5, int8=624),
        gib=80,
        reported_mib=81_920,
        gb_per_second=2039,
        link=300,
        host_link=32,
        source=N_("NVIDIA A100 data sheet"),
    ),
    "h100-pcie": sold(
        "H100 PCIe",
        tensor_cores(bf16=756, fp16=756, tf32=378, fp32=51, fp8=1513, int8=1513),
        gib=80,
        reported_mib=81_559,
        gb_per_second=2000,
        link=300,
        host_link=64,
        source=N_("NVIDIA H100 data sheet, its sparse figures halved"),
    ),
    "h100-sxm": sold(
        "H100 SXM",
        tensor_cores(bf16=989.4, fp16=989.4, tf32=494.7, fp32=67, fp8=1978.9, int8=1978.9),
        gib=80,
        reported_mib=81_559,
        gb_per_second=3350,
        link=450,
        host_link=64,
        source=N_("NVIDIA H100 data sheet, its sparse figures halved"),
    ),
    "h200-sxm": sold(
        "H200 SXM",
        tensor_cores(bf16=989.4, fp16=989.4, tf32=494.7, fp32=67, fp8=1978.9, int8=1978.9),
        gib=141,
        reported_mib=143_771,
        gb_per_second=4800,
        link=450,
        host_link=64,
        source=N_("NVIDIA H200 data sheet, its sparse figures halved"),
    ),
    "b200": sold(
        "B200",
        tensor_cores(bf16=2250, fp16=2250, tf32=1125, fp32=75, fp8=4500, fp4=9000, int8=4500),
        gib=180,
        reported_mib=183_359,
        gb_per_second=7672,  # 7,680 bits at 3,996 MHz, both edges; the sheet says "up to 8 TB/s"
        link=900,
        host_link=64,
        source=N_("NVIDIA HGX B200 data sheet, its sparse figures halved; bandwidth as queried"),
    ),
    "gb200": sold(
        "GB200 (one GPU)",
        tensor_cores(bf16=2500, fp16=2500, tf32=1250, fp32=80, fp8=5000, fp4=10_000, int8=5000),
        gib=186,
        reported_mib=189_471,
        gb_per_second=8000,
        link=900,
        host_link=225,  # half of the superchip's NVLink-C2C, one direction
        source=N_("NVIDIA GB200 data sheet, halved twice: one GPU, no sparsity; host link a guess"),
    ),
}
