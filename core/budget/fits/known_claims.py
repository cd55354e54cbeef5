"""Claims that one meets: in course notes, in forums, in benchmarks. Some are true."""

from collections.abc import Mapping
from typing import Final

from core.budget.fits.claim import Claim
from core.language import N_

_NOTES: Final = N_("course notes")
_SHEET: Final = N_("a table of data sheets")
_GPT_FAST: Final = N_("measured: gpt-fast, README")
_LLAMA: Final = N_("measured: Llama 3.1 model card, GPU hours")

CLAIMS: Final[Mapping[str, Claim]] = {
    "matmul-4090": Claim(
        kind="matmul",
        device="rtx-4090",
        stated=0.05e-3,
        size=4096,
        dtype="bfloat16",
        text=N_("A product of two 4096 × 4096 matrices takes 0.05 ms on an RTX 4090."),
        source=_NOTES,
    ),
    "70b-on-a-4090": Claim(
        kind="forward",
        device="rtx-4090",
        stated=0.2,
        model="llama-2-70b",
        text=N_("A forward pass of a 70B model takes 200 to 500 ms on an RTX 4090."),
        source=_NOTES,
    ),
    "13b-needs-80gb": Claim(
        kind="needs",
        device="a100-80gb",
        model="llama-2-13b",
        text=N_("A 13B model in bf16 needs an A100 with 80 GB."),
        source=_NOTES,
    ),
    "70b-needs-four": Claim(
        kind="needs",
        device="a100-80gb",
        num_devices=4,
        model="llama-2-70b",
        text=N_("A 70B model in bf16 needs at least four A100 with 80 GB."),
        source=_NOTES,
    ),
    "13b-int8-on-a-4090": Claim(
        kind="fits",
        device="rtx-4090",
        model="llama-2-13b",
        weight_format="int8_channel",
        text=N_("A 13B model in INT8 fits on an RTX 4090."),
        source=N_("the notes say that only 7B models do"),
    ),
    "32b-int4-on-a-4090": Claim(
        kind="fits",
        device="rtx-4090",
        model="qwen2.5-32b",
        weight_format="int4_group128",
        text=N_("A 32B model in INT4 fits on an RTX 4090."),
        source=N_("the notes say that only 7B models do"),
    ),
    "7b-105-tokens": Claim(
        kind="decode",
        device="a100-80gb",
        stated=104.9,
        model="llama-2-7b",
        text=N_("Llama-2 7B in bf16 answers with 104.9 tokens/s on one A100."),
        source=_GPT_FAST,
    ),
    "7b-200-tokens": Claim(
        kind="decode",
        device="a100-80gb",
        stated=200,
        model="llama-2-7b",
        text=N_("Llama-2 7B in bf16 answers one reader with 200 tokens/s on one A100."),
        source=N_("made up"),
    ),
    "h100-1979": Claim(
        kind="matmul",
        device="h100-sxm",
        stated=2 * 16_384**3 / 1979e12,
        size=16_384,
        dtype="bfloat16",
        text=N_("An H100 multiplies bf16 matrices at 1,979 TFLOP/s."),
        source=_SHEET,
    ),
    "405b-31m-hours": Claim(
        kind="training",
        device="h100-sxm",
        num_devices=16_384,
        stated=30.84e6 * 3600 / 16_384,
        model="llama-3.1-405b",
        num_tokens=15_600_000_000_000,
        text=N_("Llama-3.1 405B was trained on 15.6 T tokens in 30.84 M H100 hours."),
        source=_LLAMA,
    ),
    "70b-in-a-week": Claim(
        kind="training",
        device="h100-sxm",
        num_devices=1024,
        stated=7 * 86_400,
        model="llama-3.1-70b",
        num_tokens=15_000_000_000_000,
        text=N_("1,024 H100 train a 70B model on 15 T tokens within a week."),
        source=N_("made up"),
    ),
}
