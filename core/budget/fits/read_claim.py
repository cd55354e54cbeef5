"""A claim as people write it: "70B in bf16 at 100 tok/s on one H100"."""

import re

from core.budget.catalogue.models import MODELS
from core.budget.fits.claim import Claim, ClaimKind
from core.budget.fits.claim_words import (
    AMOUNTS,
    DEVICE_WORDS,
    DTYPE_OF,
    FORMAT_WORDS,
    KIND_WORDS,
    NUMBER,
    NUMBER_WORDS,
    SECONDS,
    SIZE_WORDS,
    first_found,
)
from core.language import N_, _

MAX_CHARS = 300
_YOURS = N_("your own words")


def read_claim(text: str) -> Claim:
    """Return the claim that a sentence makes.

    >>> read_claim("Llama-2 7B bf16 answers with 200 tok/s on one A100 80GB").stated
    200.0

    Raises:
        ValueError: If something is missing; the sentence says what, with an example.
    """
    plain = _plain(text)
    kind = _kind(plain)
    device = first_found(DEVICE_WORDS, plain)
    if not device:
        raise ValueError(_("No device is named; write one, such as H100 or RTX 4090."))
    fmt = first_found(FORMAT_WORDS, plain) or "bfloat16"
    size = _matrix_size(plain)
    return Claim(
        kind=kind,
        device=device,
        num_devices=_num_devices(plain, DEVICE_WORDS[device]),
        stated=_stated(kind, plain, size),
        model="" if kind == "matmul" else _model(plain),
        weight_format=fmt,
        dtype=_dtype(kind, fmt),
        size=size,
        num_tokens=_num_tokens(kind, plain),
        text=text,
        source=_YOURS,
    )


def _dtype(kind: ClaimKind, fmt: str) -> str:
    """Return what is multiplied: training may use TF32 or bf16 whatever the weights are kept in."""
    if kind == "matmul" or (kind == "training" and DTYPE_OF[fmt] == "fp8"):
        return DTYPE_OF[fmt]
    return "bfloat16"


def _plain(text: str) -> str:
    if len(text) > MAX_CHARS:
        raise ValueError(
            _("The claim has {count} characters; use at most {most}.").format(
                count=len(text), most=MAX_CHARS
            )
        )
    return re.sub(r"(?<=\d),(?=\d{3})", "", text.lower()).replace("×", "x")


def _kind(text: str) -> ClaimKind:
    for kind, pattern in KIND_WORDS:
        if re.search(pattern, text):
            return kind
    raise ValueError(
        _(
            "What is claimed? Say that a model fits or needs a device, how many tokens/s it "
            "answers, how long a forward pass, a training run or a matrix product takes."
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
    found = re.search(rf"(?<![a-z0-9.])(\d+|{words})\s*x?\s*{maker}(?:{pattern})", text)
    if found is None:
        size = r"(?:\W{0,2}\d*\s*gi?b\W?)?"
        found = re.search(rf"(?:{pattern}){size}\s*(?:x\s*|\*\s*)(\d+)(?![\dx])", text)
    if found is None:
        return 1
    return NUMBER_WORDS.get(found[1]) or max(1, int(found[1]))


def _matrix_size(text: str) -> int:
    found = re.search(r"(\d{2,7})\s*(?:x|by|³|\^3|\*\*3)", text)
    return int(found[1]) if found else 4096


def _stated(kind: ClaimKind, text: str, size: int) -> float:
    """Return what is stated, in seconds or tokens/s; it must be more than nothing."""
    if kind in ("fits", "needs"):
        return 0.0
    found = _rate(text) if kind == "decode" else _duration(kind, text, size)
    if not found:
        raise ValueError(_("Nothing takes no time and no claim is about 0; say a number above it."))
    return found


def _rate(text: str) -> float:
    found = re.search(rf"{NUMBER}\s*(?:tok|tps|词元)", text)
    if found is None:
        raise ValueError(_("Say how many tokens/s."))
    return float(found[1])


def _duration(kind: ClaimKind, text: str, size: int) -> float:
    """Return seconds: of a rate of FLOPs, of a number with its unit, or of words: "two weeks"."""
    rate = re.search(rf"{NUMBER}\s*([tp])flop", text) if kind == "matmul" else None
    if rate is not None and float(rate[1]):
        return 2 * size**3 / (float(rate[1]) * {"t": 1e12, "p": 1e15}[rate[2]])
    words = "|".join(NUMBER_WORDS)
    for unit, seconds in SECONDS.items():
        found = re.search(rf"(?:{NUMBER}|(?<![a-z])({words}))\s*{unit}(?![a-z0-9/])", text)
        if found is not None:
            return float(found[1] or NUMBER_WORDS[found[2]]) * seconds
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
    return max(1, round(min(float(found[1]) * AMOUNTS[found[2]], 1e18))) if found else 1
