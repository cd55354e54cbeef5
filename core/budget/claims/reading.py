"""A claim as people write it, English or Chinese: "70B in bf16 at 100 tok/s on one H100"."""

import re
from collections.abc import Mapping
from typing import Final

from core.budget.catalogue.models import MODELS
from core.budget.claims.claim import Claim, ClaimKind
from core.language import N_, _

DEVICE_WORDS: Final[Mapping[str, str]] = {
    "t4": r"\bt4\b",
    "v100-32gb": r"v100",
    "rtx-3060": r"3060",
    "rtx-3090": r"3090",
    "rtx-a6000": r"a6000",
    "rtx-6000-ada": r"6000\W*ada",
    "rtx-4070": r"4070",
    "rtx-4080": r"4080",
    "rtx-4090": r"4090",
    "rtx-5080": r"5080",
    "rtx-5090": r"5090",
    "a10": r"\ba10s?\b",
    "l20": r"\bl20s?\b",
    "l40s": r"\bl40s?\b",
    "l4": r"\bl4s?\b",
    "a800-80gb": r"a800",
    "a100-pcie-40gb": r"a100s?\W*pcie\D{0,8}40|40\W*gb?\W*a100\W*pcie",
    "a100-pcie-80gb": r"a100s?\W*(80\W*gb?\W*)?pcie",
    "a100-40gb": r"a100\D{0,8}40|40\W*gb?\W*a100",
    "a100-80gb": r"a100",
    "gh200-96gb": r"gh200",
    "h800-sxm": r"h800",
    "h20": r"\bh20s?\b",
    "h100-pcie": r"h100s?\W*pcie",
    "h100-nvl": r"h100s?\W*nvl",
    "h100-sxm": r"h100",
    "h200-sxm": r"h200",
    "gb200": r"gb200",
    "b200": r"\bb200",
    "b300-sxm": r"\bb300",
    "mi250x": r"mi250",
    "mi300x": r"mi300",
    "mi325x": r"mi325",
    "mi355x": r"mi355",
    "tpu-v5e": r"v5e",
    "tpu-v5p": r"v5p",
    "tpu-v6e": r"v6e",
    "ascend-910b2": r"910b",
    "m2-max": r"m2\W*max",
    "m4-max": r"m4\W*max",
    "m3-pro": r"m3\W*pro",
    "m4": r"\bm4\b",
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
    "gpt-oss-120b": r"\b120b\b",
    "qwen3-235b-a22b": r"\b235b\b",
    "gpt-oss-20b": r"\b20b\b",
    "mistral-small-3-24b": r"\b24b\b",
    "gemma-3-12b": r"\b12b\b",
    "qwen3-4b": r"\b4b\b",
}
"""Key of MODELS -> a pattern for its size alone: "a 13B model"."""

FORMAT_WORDS: Final[Mapping[str, str]] = {
    "nf4_double_quant": r"nf4|qlora",
    "mxfp4": r"mxfp\W?4(?!\d)",
    "nvfp4": r"fp\W?4(?!\d)|float4",
    "int4_group128": r"int\W?4(?!\d)|4\W?bit|q4",
    "int8_channel": r"int\W?8(?!\d)|8\W?bit|q8",
    "fp8_block128": r"fp\W?8(?!\d)|float8",
    "float32": r"fp\W?32|float32|tf\W?32",
    "float16": r"fp\W?16|float16",
    "bfloat16": r"bf\W?16|bfloat16",
}
DTYPE_OF: Final[Mapping[str, str]] = {
    "nf4_double_quant": "bfloat16",
    "mxfp4": "fp4",
    "nvfp4": "fp4",
    "int4_group128": "bfloat16",
    "int8_channel": "int8",
    "fp8_block128": "fp8",
    "float32": "float32",
    "float16": "float16",
    "bfloat16": "bfloat16",
}
"""How weights are stored -> what a product of such matrices computes in."""
TF32: Final = r"tf\W?32"  # stored in 32 bits, multiplied in 19
RATE_UNITS: Final = r"(giga|tera|peta|exa|[gtpe])\s?(flop|ops\b)"
RATES: Final[Mapping[str, float]] = {"g": 1e9, "t": 1e12, "p": 1e15, "e": 1e18}

KIND_WORDS: Final[tuple[tuple[ClaimKind, str], ...]] = (
    ("matmul", r"matmul|matri|\bgemms?\b|multipl|矩阵"),
    ("decode", r"tok\w*\s*(/|per)\s*s|tps|词元/秒|词元每秒"),
    ("training", r"train|训练"),
    ("matmul", rf"\d\s*{RATE_UNITS}"),  # a rate of products, of whatever size
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
# A minus behind a letter or a digit is a dash: "A100-80", "5-10".
NUMBER: Final = r"((?:(?<![a-z0-9.)])-)?\d+(?:\.\d+)?)"
THOUSANDS: Final = r"(?<=\d)[,，'’\u00a0\u2009\u202f](?=\d{3}(?!\d))"
AMOUNTS: Final[Mapping[str, float]] = {
    "t": 1e12, "b": 1e9, "m": 1e6, "k": 1e3, "万亿": 1e12, "亿": 1e8, "万": 1e4, "": 1,
}  # fmt: skip

LARGE: Final = 16_384  # rows and columns of a product whose size nobody names
MAX_CHARS = 300
_YOURS = N_("your own words")


def read_claim(text: str) -> Claim:
    """Return the claim that a sentence makes.

    >>> read_claim("Llama-2 7B bf16 answers with 200 tok/s on one A100 80GB").stated
    200.0

    Raises:
        ValueError: If something is missing; the sentence says what, with an example.
    """
    if len(text) > MAX_CHARS:
        raise ValueError(
            _("The claim has {count} characters; use at most {most}.").format(
                count=len(text), most=MAX_CHARS
            )
        )
    plain = _plain(text)
    kind = _kind(plain)
    device = first_found(DEVICE_WORDS, plain)
    if not device:
        raise ValueError(_("No device is named; write one, such as H100 or RTX 4090."))
    fmt = first_found(FORMAT_WORDS, plain) or "bfloat16"
    size = _matrix_size(kind, plain)
    return Claim(
        kind=kind,
        device=device,
        num_devices=_num_devices(plain, DEVICE_WORDS[device]),
        stated=_stated(kind, plain, size),
        model="" if kind == "matmul" else _model(plain),
        weight_format=fmt,
        dtype=_dtype(kind, fmt, plain),
        size=size,
        num_tokens=_num_tokens(kind, plain),
        text=text,
        source=_YOURS,
    )


def _plain(text: str) -> str:
    """Return a text in small letters, signs as ASCII has them, numbers without thousands marks."""
    signs = text.lower().replace("×", "x").replace("−", "-").replace("－", "-")
    return re.sub(THOUSANDS, "", signs)


def first_found(words: Mapping[str, str], text: str) -> str:
    """Return the first key whose pattern is in the text, "" if none is."""
    return next((key for key, pattern in words.items() if re.search(pattern, text)), "")


def _dtype(kind: ClaimKind, fmt: str, text: str) -> str:
    """Return what is multiplied: training may use TF32 or bf16 whatever the weights are kept in."""
    if kind == "matmul" and re.search(TF32, text):
        return "tf32"
    rate = re.search(rf"\d\s*{RATE_UNITS}", text) if kind == "matmul" else None
    if rate is not None and rate[2] == "ops" and not first_found(FORMAT_WORDS, text):
        return "int8"  # what makers print in TOPS
    if kind == "matmul" or (kind == "training" and DTYPE_OF[fmt] == "fp8"):
        return DTYPE_OF[fmt]
    return "bfloat16"


def _kind(text: str) -> ClaimKind:
    for kind, pattern in KIND_WORDS:
        if re.search(pattern, text):
            return kind
    raise ValueError(
        _(
            "What is claimed? Say that a model fits or needs a device, how many tokens/s it "
            "generates, how long a forward pass, a training run or a matmul takes."
        )
    )


def _model(text: str) -> str:
    squeezed = re.sub(r"[^a-z0-9.]", "", text)
    named = [key for key, spec in MODELS.items() if re.sub(r"[^a-z0-9.]", "", key) in squeezed
             or re.sub(r"[^a-z0-9.]", "", spec.name.lower()) in squeezed]  # fmt: skip
    found = max(named, key=len) if named else first_found(SIZE_WORDS, text)
    if not found:
        raise ValueError(_("No model is named; write one, such as Llama-2 13B, or its size."))
    return found


def _num_devices(text: str, pattern: str) -> int:
    """Return the number before the device, or after it ("A100 80GB x4"); 1 if there is none."""
    words = "|".join(NUMBER_WORDS)
    maker = r"(?:(?:nvidia|amd|geforce|rtx|tpu|块|张|台|个)\s*)*"
    found = re.search(rf"(?<![a-z0-9.)])(-?\d+|{words})\s*x?\s*{maker}(?:{pattern})", text)
    if found is None:
        size = r"(?:\W{0,2}\d*\s*gi?b\W?)?"
        found = re.search(rf"(?:{pattern}){size}\s*(?:x\s*|\*\s*)(\d+)(?![\dx])", text)
    if found is None:
        return 1
    return NUMBER_WORDS.get(found[1]) or int(found[1])


def _matrix_size(kind: ClaimKind, text: str) -> int:
    """Return the size that is named; for a rate alone one at which memory plays no part."""
    found = re.search(r"(\d{2,7})\s*(?:x|by|³|\^3|\*\*3)", text)
    if found is not None:
        return int(found[1])
    return LARGE if kind == "matmul" and re.search(rf"{NUMBER}\s*{RATE_UNITS}", text) else 4096


def _stated(kind: ClaimKind, text: str, size: int) -> float:
    """Return what is stated, in seconds or tokens/s; it must be more than nothing."""
    if kind in ("fits", "needs"):
        return 0.0
    return _rate(text) if kind == "decode" else _duration(kind, text, size)


def _positive(number: str) -> float:
    """Return a number that is above 0.

    Raises:
        ValueError: If it is not.
    """
    if float(number) > 0:
        return float(number)
    sentence = _("Nothing takes no time and no claim is about 0; say a number above it.")
    if float(number) < 0:
        sentence = _("{number} is less than nothing; say a number above 0.").format(number=number)
    raise ValueError(sentence)


def _rate(text: str) -> float:
    found = re.search(rf"{NUMBER}\s*(?:tok|tps|词元)", text)
    if found is None:
        raise ValueError(_("Say how many tokens/s."))
    return _positive(found[1])


def _duration(kind: ClaimKind, text: str, size: int) -> float:
    """Return seconds: of a rate of FLOPs, of a number with its unit, or of words: "two weeks"."""
    rate = re.search(rf"{NUMBER}\s*{RATE_UNITS}", text) if kind == "matmul" else None
    if rate is not None:
        return 2 * size**3 / (_positive(rate[1]) * RATES[rate[2][0]])
    words = "|".join(NUMBER_WORDS)
    for unit, seconds in SECONDS.items():
        found = re.search(rf"(?:{NUMBER}|(?<![a-z])({words}))\s*{unit}(?![a-z0-9/])", text)
        if found is not None:
            return _positive(found[1] or str(NUMBER_WORDS[found[2]])) * seconds
    raise ValueError(_("Say how long it takes, such as 0.05 ms or 7 days."))


def _num_tokens(kind: ClaimKind, text: str) -> int:
    """Return the tokens of a run or a pass, or the sequences that are answered together."""
    if kind == "decode":
        found = re.search(r"(?:batch(?: size)?|concurrency|并发|批次)\D{0,4}(\d+)", text)
        return max(1, int(found[1])) if found else 1
    found = re.search(
        rf"{NUMBER}\s*([tbmk]|万亿|亿|万|)(?:rillion|illion)?\s*(?:个\s*)?(?:tok|词元)", text
    )
    if found is None and kind == "training":
        raise ValueError(_("Say on how many tokens, such as 15T tokens."))
    if found is None:
        return 1
    return max(1, round(min(_positive(found[1]) * AMOUNTS[found[2]], 1e18)))
