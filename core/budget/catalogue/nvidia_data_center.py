"""NVIDIA's devices for servers: a row each, with its speeds and what torch reports of its memory.

Checked in 2026-11 against copies of the data sheets and against tables of hmc-tech.com (T4, A100,
L4, L40S), hpctech.co.jp (H100), glennklockwood.com (H100, B200, GB200) and those that the rows
name.
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
_A100_PCIE: Final = N_(
    "NVIDIA A100 data sheet: the rates of the SXM; bandwidth: cli99/llm-analysis and "
    "ai-dynamo/aiconfigurator (2026-08); the link is a bridge between two cards"
)

NVIDIA_DATA_CENTER: Final[Mapping[str, DeviceSpec]] = {
    "t4": sold(
        "T4",
        tensor_cores(fp16=65, fp32=8.1, int8=130),  # Turing has no bf16: torch emulates it
        product_name="Tesla T4",
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
        product_name="Tesla V100-SXM2-32GB",
        usable=seen({31.74: "liucongg/ChatGLM-Finetuning#73", 31.75: "AetherCortex/Llama-X#12"}),
        gib=32, gb_per_second=900, link=150, host_link=16, doubts={"int8": "claimed"},
        source=N_("NVIDIA V100 data sheet; int8 recalled, not checked again"),
    ),
    "a10": sold(
        "A10",
        tensor_cores(bf16=125, fp16=125, tf32=62.5, fp32=31.2, int8=250),
        product_name="A10",
        usable=seen({21.99: "mistralai/mistral-finetune#69, A10G"}),
        gib=24, gb_per_second=600, link=32, host_link=32, sparsity=True,
        source=N_("NVIDIA A10 data sheet, as in llm-analysis; its 28 GB corrected"),
    ),
    "l4": sold(
        "L4",
        tensor_cores(bf16=121, fp16=121, tf32=60, fp32=30.3, fp8=242, int8=242),
        product_name="L4",
        usable=seen({22.03: "ArcInstitute/evo2#190"}),
        gib=24, gb_per_second=300, link=32, host_link=32, sparsity=True,
        source=N_("NVIDIA L4 data sheet, its sparse figures halved; other tables differ"),
    ),
    "l20": sold(
        "L20",
        tensor_cores(bf16=119.5, fp16=119.5, tf32=59.8, fp32=59.8, fp8=239, int8=239),
        product_name="L20",
        usable=less_the_driver(46_068, in_logs=True),  # with ECC
        gib=48, gb_per_second=864, link=32, host_link=32,
        known="claimed",
        source=N_(
            "as in volcengine/verl, flops_counter.py, and ArthurChiao's table of GPUs (2024-02); "
            "FP8 of one table alone, citsjtu2020/LLM-Prof; no sheet at hand, so recalled by others"
        ),
    ),
    "l40s": sold(
        "L40S",
        tensor_cores(bf16=362, fp16=362, tf32=183, fp32=91.6, fp8=733, int8=733),
        product_name="L40S",
        usable=seen({44.42: "stepfun-ai/Step-Video-T2V#8", 44.53: "vllm-project/vllm#15598"}),
        gib=48, gb_per_second=864, link=32, host_link=32, sparsity=True,
        source=N_("NVIDIA L40S data sheet"),
    ),
    "a100-pcie-40gb": sold(
        "A100 PCIe 40 GB",
        tensor_cores(bf16=312, fp16=312, tf32=156, fp32=19.5, int8=624),
        product_name="A100-PCIE-40GB",
        usable=less_the_driver(40_960, in_logs=True),
        gib=40, gb_per_second=1555, link=300, joined=2, host_link=32, sparsity=True,
        doubts={"bandwidth": "claimed"},
        source=_A100_PCIE,
    ),
    "a100-40gb": sold(
        "A100 SXM 40 GB",
        tensor_cores(bf16=312, fp16=312, tf32=156, fp32=19.5, int8=624),
        product_name="A100-SXM4-40GB",
        usable=seen({
            39.45: "InternLM/xtuner#88",
            39.50: "TianheWu/CoSeR#10",
            39.56: "databrickslabs/dolly#207",
        }),
        gib=40, gb_per_second=1555, link=300, host_link=32, sparsity=True,
        source=N_("NVIDIA A100 data sheet"),
    ),
    "a100-pcie-80gb": sold(
        "A100 PCIe 80 GB",
        tensor_cores(bf16=312, fp16=312, tf32=156, fp32=19.5, int8=624),
        product_name="A100 80GB PCIe",
        usable=less_the_driver(81_920, in_logs=True),
        gib=80, gb_per_second=1935, link=300, joined=2, host_link=32, sparsity=True,
        doubts={"bandwidth": "claimed"},
        source=_A100_PCIE,
    ),
    "a100-80gb": sold(
        "A100 SXM 80 GB",
        tensor_cores(bf16=312, fp16=312, tf32=156, fp32=19.5, int8=624),
        product_name="A100-SXM4-80GB",
        usable=seen({
            79.14: "lianqi1008/Control-GIC#6",
            79.25: "HiDream-ai/VAREdit#6",
            79.35: "OSU-NLP-Group/TableLlama#10",
        }),
        gib=80, gb_per_second=2039, link=300, host_link=32, sparsity=True,
        source=N_("NVIDIA A100 data sheet"),
    ),
    "a800-80gb": sold(
        "A800 SXM 80 GB",
        tensor_cores(bf16=312, fp16=312, tf32=156, fp32=19.5, int8=624),
        product_name="A800-SXM4-80GB",
        usable=less_the_driver(81_920, in_logs=True),
        gib=80, gb_per_second=2039, link=200, host_link=32, sparsity=True,
        doubts={"link": "claimed"},
        source=N_(
            "NVIDIA A100 data sheet for all but the link; link: Tom's Hardware (2022-11) and "
            "volcengine/verl, flops_counter.py"
        ),
    ),
    "h20": sold(
        "H20",
        tensor_cores(bf16=148, fp16=148, tf32=74, fp32=44, fp8=296, int8=296),
        product_name="H20",
        usable=less_the_driver(97_871, in_logs=True),
        gib=96, gb_per_second=4000, link=450, host_link=64,
        source=N_(
            "NVIDIA H20 data sheet as quoted in ArthurChiao's table of GPUs (2024-02), its 80 GB "
            "corrected, and in pytorch/torchtitan, utils.py (2026-08)"
        ),
    ),
    "h100-pcie": sold(
        "H100 PCIe",
        tensor_cores(bf16=756, fp16=756, tf32=378, fp32=51, fp8=1513, int8=1513),
        product_name="H100 PCIe",
        usable=seen({79.11: "vllm-project/vllm#27508"}),
        gib=80, gb_per_second=2000, link=300, joined=2, host_link=64, sparsity=True,
        source=N_("NVIDIA H100 data sheet, its sparse figures halved"),
    ),
    "h100-nvl": sold(
        "H100 NVL",
        tensor_cores(bf16=835.5, fp16=835.5, tf32=417.5, fp32=60, fp8=1670.5, int8=1670.5),
        product_name="H100 NVL",
        usable=seen({93.00: "ali-vilab/VACE#56"}),
        gib=94, gb_per_second=3900, link=300, joined=2, host_link=64, sparsity=True,
        doubts={"link": "claimed"},
        source=N_(
            "NVIDIA H100 data sheet 24306 as in Lightning-AI/pytorch-lightning, throughput.py "
            "(2026-07), its sparse figures halved; link: the bridge's 600 GB/s both ways, from "
            "other tables"
        ),
    ),
    "h100-sxm": sold(
        "H100 SXM",
        tensor_cores(bf16=989.4, fp16=989.4, tf32=494.7, fp32=67, fp8=1978.9, int8=1978.9),
        product_name="H100 80GB HBM3",
        usable=seen({79.11: "vllm-project/vllm#27508"}),
        gib=80, gb_per_second=3350, link=450, host_link=64, sparsity=True,
        source=N_("NVIDIA H100 white paper, its dense figures"),
    ),
    "h800-sxm": sold(
        # its fp32 rate stands in no table that could be read
        "H800 SXM",
        tensor_cores(bf16=989.4, fp16=989.4, tf32=494.7, fp8=1978.9, int8=1978.9),
        product_name="H800",
        usable=less_the_driver(81_559, in_logs=True),
        gib=80, gb_per_second=3350, link=200, host_link=64, sparsity=True,
        known="claimed",
        source=N_(
            "the rates of an H100 and half its link, as in volcengine/verl, flops_counter.py, and "
            "ArthurChiao's table of GPUs (2024-02); no sheet at hand, so recalled by others"
        ),
    ),
    "gh200-96gb": sold(
        "GH200 96 GB (one superchip)",
        tensor_cores(bf16=989.4, fp16=989.4, tf32=494.7, fp32=67, fp8=1978.9, int8=1978.9),
        product_name="GH200 480GB",
        usable=less_the_driver(97_871, in_logs=True),
        gib=96, gb_per_second=4000, link=450, host_link=450, sparsity=True,
        source=N_(
            "NVIDIA Grace Hopper data sheet as in stas00/ml-engineering, accelerator (2026-08): "
            "the rates of an H100; the host over NVLink-C2C; a link only in NVL2 and NVL32"
        ),
    ),
    "h200-sxm": sold(
        "H200 SXM",
        tensor_cores(bf16=989.4, fp16=989.4, tf32=494.7, fp32=67, fp8=1978.9, int8=1978.9),
        product_name="H200",
        usable=less_the_driver(143_771),
        gib=141, gb_per_second=4800, link=450, host_link=64, sparsity=True,
        source=N_("NVIDIA H100 white paper for the rates, H200 data sheet for the memory"),
    ),
    "b200": sold(
        "B200",
        tensor_cores(bf16=2250, fp16=2250, tf32=1125, fp32=75, fp8=4500, fp4=9000, int8=4500),
        product_name="B200",
        usable=seen({178.35: "pytorch/ao#4002"}),
        gib=180, gb_per_second=7672, link=900, host_link=64, sparsity=True,
        doubts={"bandwidth": "measured"},
        source=N_("NVIDIA HGX B200 data sheet, its sparse figures halved; bandwidth as queried"),
    ),
    "b300-sxm": sold(
        "B300 SXM",
        tensor_cores(
            bf16=2250, fp16=2250, tf32=1125, fp32=75, fp8=4500, fp4=14_000, int8=153.5,
        ),
        product_name="B300 SXM6 AC",
        usable=less_the_driver(275_040, in_logs=True),
        gib=270, gb_per_second=7750, link=900, host_link=128, sparsity=True,
        known="claimed",
        source=N_(
            "NVIDIA Blackwell Ultra data sheet as in ai-dynamo/aiconfigurator, b300_sxm.yaml "
            "(2026-07); tables disagree on fp4 (12,600 to 14,000), fp32, int8 and the host link; "
            "memory as dstackai/gpuhunt has it (2026-08), 288 GB elsewhere"
        ),
    ),
    "gb200": sold(
        "GB200 (one GPU)",
        tensor_cores(bf16=2500, fp16=2500, tf32=1250, fp32=80, fp8=5000, fp4=10_000, int8=5000),
        product_name="GB200",
        usable=less_the_driver(189_471),
        gib=186, gb_per_second=8000, link=900, host_link=225, sparsity=True,
        doubts={"host_link": "claimed"},
        source=N_("NVIDIA GB200 data sheet, halved twice: one GPU, no sparsity; host link a guess"),
    ),
}  # fmt: skip
"""Key, as in a link -> device."""
