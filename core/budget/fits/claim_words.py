"""The words by which a claim is recognised, English and Chinese: one row a meaning."""

import re
from collections.abc import Mapping
from typing import Final

from core.budget.fits.claim import ClaimKind

DEVICE_WORDS: Final[Mapping[str, str]] = {
    "t4": r"\bt4\b",
    "v100-32gb": r"v100",
    "rtx-3090": r"3090",
    "rtx-4090": r"4090",
    "rtx-5090": r"5090",
    "a10": r"\ba10s?\b",
    "l40s": r"\bl40s?\b",
    "l4": r"\bl4s?\b",
    "a100-40gb": r"a100\D{0,8}40|40\W*gb?\W*a100",
    "a100-80gb": r"a100",
    "h100-pcie": r"h100s?\W*pcie",
    "h100-sxm": r"h100",
    "h200-sxm": r"h200",
    "gb200": r"gb200",
    "b200": r"\bb200",
    "mi250x": r"mi250",
    "mi300x": r"mi300",
    "mi355x": r"mi355",
    "tpu-v5e": r"v5e",
    "tpu-v5p": r"v5p",
    "tpu-v6e": r"v6e",
    "m2-max": r"m2\W*max",
    "m4-max": r"m4\W*max",
}
"""Key of DEVICES -> a pattern; the first that is found counts, so the special stand first."""

SIZE_WORDS: Final[Mapping[str, str]] = {
    "llama-3.2-1b": r"\b1b\b",
    "llama-3.2-3b": r"\b3b\b",
    "llama-2-7b": r"\b7b\b",
    "llama-3.1-8b": r"\b8b\b",
    "gemma-2-9b": r"\b9b\b",
    "llama-2-13b": r"\b13b\b",
    "phi-4": r"\b14b\b",
    "gemma-2-27b": r"\b27b\b",
    "qwen2.5-32b": r"\b3[234]b\b",
    "llama-2-70b": r"\b70b\b",
    "qwen2.5-72b": r"\b72b\b",
    "gpt-3-175b": r"\b175b\b",
    "llama-3.1-405b": r"\b405b\b",
    "deepseek-v3": r"\b671b\b",
}
"""Key of MODELS -> a pattern for its size alone: "a 13B model"."""

FORMAT_WORDS: Final[Mapping[str, str]] = {
    "nf4_double_quant": r"nf4|qlora",
    "int4_group128": r"int\W?4|4\W?bit|q4",
    "int8_channel": r"int\W?8|8\W?bit|q8",
    "fp8_block128": r"fp\W?8|float8",
    "float32": r"fp\W?32|float32",
    "float16": r"fp\W?16|float16",
    "bfloat16": r"bf\W?16|bfloat16",
}
DTYPE_OF: Final[Mapping[str, str]] = {
    "nf4_double_quant": "bfloat16",
    "int4_group128": "bfloat16",
    "int8_channel": "int8",
    "fp8_block128": "fp8",
    "float32": "float32",
    "float16": "float16",
    "bfloat16": "bfloat16",
}
"""How weights are stored -> what a product of such matrices computes in."""

KIND_WORDS: Final[tuple[tuple[ClaimKind, str], ...]] = (
    ("matmul", r"matmul|matri|\bgemms?\b|multipl|矩阵"),
    ("decode", r"tok\w*\s*(/|per)\s*s|tps|词元/秒|词元每秒"),
    ("training", r"train|训练"),
    ("needs", r"need|requir|at least|must have|需要|至少"),
    ("forward", r"forward|prefill|latency|前向"),
    ("fits", r"fit|runs? on|load|enough|放得下|装得下|能放|能跑"),
)
"""What is claimed -> a pattern; the first that is found counts."""

SECONDS: Final[Mapping[str, float]] = {
    r"(?:us|µs|μs|microseconds?|微秒)": 1e-6,
    r"(?:ms|milliseconds?|毫秒)": 1e-3,
    r"(?:minutes?|min|分钟)": 60,
    r"(?:hours?|h|小时)": 3600,
    r"(?:days?|天)": 86_400,
    r"(?:weeks?|周)": 604_800,
    r"(?:seconds?|sec|s|秒)": 1,
}
NUMBER_WORDS: Final[Mapping[str, int]] = {
    "one": 1, "a": 1, "an": 1, "two": 2, "three": 3, "four": 4, "eight": 8, "sixteen": 16,
    "一": 1, "两": 2, "四": 4, "八": 8,
}  # fmt: skip
NUMBER: Final = r"(\d+(?:\.\d+)?)"
AMOUNTS: Final[Mapping[str, float]] = {
    "t": 1e12, "b": 1e9, "m": 1e6, "k": 1e3, "万亿": 1e12, "亿": 1e8, "万": 1e4, "": 1,
}  # fmt: skip


def first_found(words: Mapping[str, str], text: str) -> str:
    """Return the first key whose pattern is in the text, "" if none is."""
    return next((key for key, pattern in words.items() if re.search(pattern, text)), "")
