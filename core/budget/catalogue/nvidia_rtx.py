"""NVIDIA's cards for desks: a row each, with its speeds and what torch reports of its memory.

Checked in 2026-11 against tables of hmc-tech.com (RTX 4090), spheron.network (RTX 5090) and those
that the rows name.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final

from core.budget.catalogue.data_sheet import sold as sold_by
from core.budget.catalogue.data_sheet import tensor_cores
from core.budget.catalogue.usable_memory import less_the_driver, seen
from core.budget.cluster import DeviceSpec
from core.language import N_

sold = partial(sold_by, maker="NVIDIA")

NVIDIA_RTX: Final[Mapping[str, DeviceSpec]] = {
    "rtx-3060": sold(
        "RTX 3060 12 GB",
        tensor_cores(bf16=25.5, fp16=25.5, tf32=12.7, fp32=12.7, int8=101.9),
        usable=seen({11.76: "TencentARC/PhotoMaker#47"}),
        gib=12, gb_per_second=360, link=32, host_link=32, sparsity=True,
        known="claimed",
        source=N_(
            "fp32 and int8 as in hmc-tech.com's table (2026-11); the other rates by the ratio of "
            "its RTX 3060 Laptop"
        ),
    ),
    "rtx-3090": sold(
        "RTX 3090",
        tensor_cores(bf16=71, fp16=71, tf32=35.6, fp32=35.6, int8=284),
        product_name="GeForce RTX 3090",
        usable=seen({23.68: "3DTopia/OpenLRM#42", 23.70: "GaoLii/DSP#10"}),
        gib=24, gb_per_second=936, link=56.25, joined=2, host_link=32, sparsity=True,
        known="claimed",
        source=N_("NVIDIA GA102 white paper; tensor rates recalled, not checked again"),
    ),
    "rtx-a6000": sold(
        "RTX A6000",
        tensor_cores(bf16=154.8, fp16=154.8, tf32=77.4, fp32=38.7, int8=309.7),
        product_name="RTX A6000",
        usable=less_the_driver(49_140, in_logs=True),
        gib=48, gb_per_second=768, link=56.25, joined=2, host_link=32, sparsity=True,
        doubts={"link": "claimed"},
        source=N_(
            "NVIDIA RTX A6000 data sheet as in pytorch/torchtitan, utils.py (2026-08), its sparse "
            "figure halved; link: cli99/llm-analysis and servethehome.com"
        ),
    ),
    "rtx-4070": sold(
        "RTX 4070",
        tensor_cores(bf16=58.3, fp16=58.3, tf32=29.15, fp32=29.15, fp8=116.6, int8=233.2),
        product_name="GeForce RTX 4070",
        usable=less_the_driver(12_282, in_logs=True),  # meta-llama/llama#466
        gib=12, gb_per_second=504.2, link=32, host_link=32, sparsity=True,
        peer_to_peer=False,
        known="claimed",
        source=N_(
            "fp32 as in topcpu's table (2026-11); the other rates by the ratio of the RTX 4090 "
            "(NVIDIA Ada white paper); no peer-to-peer: huggingface/accelerate, state.py"
        ),
    ),
    "rtx-4080": sold(
        "RTX 4080",
        tensor_cores(bf16=97.5, fp16=97.5, tf32=48.7, fp32=48.7, fp8=194.9, int8=389.9),
        product_name="GeForce RTX 4080",
        usable=less_the_driver(16_376, in_logs=True),
        gib=16, gb_per_second=716.8, link=32, host_link=32, sparsity=True,
        peer_to_peer=False,
        known="claimed",
        source=N_(
            "NVIDIA Ada white paper for int8, as in Lightning-AI/pytorch-lightning, throughput.py "
            "(2026-07); the other rates by the ratio of the RTX 4090; bandwidth: fpsbench; no "
            "peer-to-peer: huggingface/accelerate, state.py"
        ),
    ),
    "rtx-4090": sold(
        "RTX 4090",
        tensor_cores(bf16=165.2, fp16=165.2, tf32=82.6, fp32=82.6, fp8=330.3, int8=660.6),
        product_name="GeForce RTX 4090",
        usable=seen({
            23.52: "vllm-project/vllm#42049",
            23.64: "3DTopia/Phidias-Diffusion#8",
            23.68: "zai-org/CogVideo#36",
        }),
        gib=24, gb_per_second=1008, link=32, host_link=32, sparsity=True,
        peer_to_peer=False,
        source=N_(
            "NVIDIA Ada white paper; no peer-to-peer: huggingface/accelerate, state.py, and "
            "NVIDIA/nccl#1127"
        ),
    ),
    "rtx-6000-ada": sold(
        "RTX 6000 Ada",
        tensor_cores(bf16=364.2, fp16=364.2, tf32=182.1, fp32=91.1, fp8=728.5, int8=728.5),
        product_name="RTX 6000 Ada Generation",
        usable=seen({44.43: "DINGYANB/MTVCrafter#21"}),
        gib=48, gb_per_second=960, link=32, host_link=32, sparsity=True,
        known="claimed",
        source=N_(
            "fp32 as in grafikkarten.com's table; the tensor rates by the ratio of the L40S, the "
            "same chip (NVIDIA L40S data sheet); with ECC"
        ),
    ),
    "rtx-5080": sold(
        "RTX 5080",
        tensor_cores(
            bf16=112.6, fp16=112.6, tf32=56.3, fp32=56.3, fp8=225.1, fp4=900.4, int8=450.2,
        ),
        product_name="GeForce RTX 5080",
        usable=less_the_driver(16_303, in_logs=True),
        gib=16, gb_per_second=960, link=64, host_link=64, sparsity=True,
        peer_to_peer=False,
        known="claimed",
        source=N_(
            "fp32 and fp4 as in hmc-tech.com's table (2026-11), the sparse figure halved; the "
            "other rates by the ratio of the RTX 5090; no peer-to-peer, as the RTX 5090"
        ),
    ),
    "rtx-5090": sold(
        "RTX 5090",
        tensor_cores(bf16=209.5, fp16=209.5, tf32=104.8, fp32=104.8, fp8=419, fp4=1676, int8=838),
        product_name="GeForce RTX 5090",
        usable=seen({
            31.36: "TrajectoryCrafter/TrajectoryCrafter#20",
            31.37: "Wan-Video/Wan2.1#465",
        }),
        gib=32, gb_per_second=1792, link=64, host_link=64, sparsity=True,
        peer_to_peer=False,
        source=N_(
            "NVIDIA RTX Blackwell white paper, its sparse figures halved; no peer-to-peer: "
            "tinygrad/open-gpu-kernel-modules#29 (2025-02)"
        ),
    ),
}  # fmt: skip
"""Key, as in a link -> device."""
