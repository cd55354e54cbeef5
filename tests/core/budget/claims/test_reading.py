"""Claims as people write them, in both languages, and what is said when something is missing."""

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.claims.claim import CLAIMS
from core.budget.claims.reading import DEVICE_WORDS, DTYPE_OF, FORMAT_WORDS, SIZE_WORDS, read_claim
from core.budget.claims.referee import rule
from core.budget.weights.parameters import counts
from tests.core.budget.refusals import refused

WRITTEN = {
    "A 13B model in bf16 needs an A100 with 80 GB.": "13b-needs-80gb",
    "A 70B model in bf16 needs at least four A100 with 80 GB.": "70b-needs-four",
    "A 13B model in INT8 fits on an RTX 4090.": "13b-int8-on-a-4090",
    "A 32B model in INT4 fits on an RTX 4090.": "32b-int4-on-a-4090",
    "Llama-2 7B in bf16 answers with 104.9 tokens/s on one A100.": "7b-105-tokens",
    "Llama-2 7B in bf16 answers with 200 tok/s on one A100.": "7b-200-tokens",
    "4096 x 4096 matmul in bf16: 0.05 ms on an RTX 4090": "matmul-4090",
    "An H100 multiplies bf16 matrices of 16384 × 16384 at 1,979 TFLOP/s": "h100-1979",
    "一块 RTX 4090 上 4096 × 4096 的矩阵乘法需 0.05 毫秒": "matmul-4090",
    "70B 模型 bf16 至少需要四块 A100 80GB": "70b-needs-four",
    "Llama-2 7B 在 A100 上 200 词元/秒": "7b-200-tokens",
}


def test_what_people_write_is_ruled_as_the_same_claim_is():
    for text, key in WRITTEN.items():
        mine, known = rule(read_claim(text)), rule(CLAIMS[key])
        assert mine.verdict == known.verdict, text
        assert mine.ratio == pytest.approx(known.ratio, rel=1e-3), text
        assert mine.enough == known.enough, text


def test_numbers_units_and_counts_are_read():
    claim = read_claim("1,024 H100 train Llama-3.1 70B on 15 trillion tokens in 7 days")
    assert (claim.kind, claim.num_devices, claim.device) == ("training", 1024, "h100-sxm")
    assert (claim.num_tokens, claim.stated) == (15 * 10**12, 7 * 86_400)
    assert claim.model == "llama-3.1-70b"

    claim = read_claim("8 H200 训练 7B，2T 词元，3 天")
    assert (claim.num_devices, claim.num_tokens, claim.stated) == (8, 2 * 10**12, 3 * 86_400)

    claim = read_claim("Mistral 7B v0.3 at 2000 tokens/s with batch size 64 on a L40S, fp8")
    assert (claim.model, claim.num_tokens) == ("mistral-7b-v0.3", 64)
    assert (claim.weight_format, claim.stated) == ("fp8_block128", 2000)

    for unit, seconds in (("us", 1e-6), ("ms", 1e-3), ("s", 1), ("min", 60), ("h", 3600)):
        assert read_claim(f"forward of 7B on T4 takes 5 {unit}").stated == 5 * seconds, unit


def test_durations_and_amounts_in_words():
    claim = read_claim("1024 H100 train 70B on 15 trillion tokens in two weeks")
    assert (claim.stated, claim.num_tokens) == (14 * 86_400, 15 * 10**12)

    for amount, tokens in (("15 万亿", 15e12), ("3000亿", 3e11), ("500 万个", 5e6)):
        claim = read_claim(f"8 块 H100 训练 7B 模型，{amount}词元，一周")
        assert (claim.num_devices, claim.num_tokens, claim.stated) == (8, tokens, 7 * 86_400), (
            amount
        )


def test_a_number_behind_the_device_counts():
    for text in ("70B needs A100 80GB x4", "70B needs A100 x 4", "A100 (80 GB) ×4 needed for 70B"):
        assert read_claim(text).num_devices == 4, text
    assert read_claim("H100 8192x8192 fp8 matmul: 2 PFLOP/s").num_devices == 1


def test_training_is_held_against_the_peak_of_what_it_multiplies():
    said = "8 {device} train 7B on 1T tokens in 90 days"
    for device, words, peak in (
        ("H100", "", "bfloat16"),
        ("H100", " in fp32", "bfloat16"),
        ("H100", " in fp8", "fp8"),
        ("T4", "", "float16"),
    ):
        claim = read_claim(said.format(device=device) + words)
        flops = 6 * counts(MODELS[claim.model]).active * 1e12
        least = flops / (8 * DEVICES[claim.device].peak[peak])
        assert rule(claim).bound.amount == pytest.approx(least), (device, words)


def test_a_matrix_product_stated_as_a_rate():
    claim = read_claim("H100: 2 PFLOP/s fp8 matmul, 8192x8192")
    assert claim.dtype == "fp8"
    assert 2 * 8192**3 / claim.stated == pytest.approx(2e15)


def test_a_rate_is_read_with_its_thousands_and_held_against_the_peak_of_its_precision():
    """Dense peaks of the data sheets, TFLOP/s: H100 1,978.9 in FP8, B200 9,000 in FP4."""
    for text, dtype, ratio in (
        ("4,000 TFLOP/s in fp8 on one H100", "fp8", 4000 / 1978.9),
        ("An H100 reaches 4\u202f000 TFLOPS in FP8", "fp8", 4000 / 1978.9),
        ("A B200 computes 18,000 TFLOP/s in fp4", "fp4", 18_000 / 9000),
        ("NVFP4 on a GB200: 10 PFLOP/s", "fp4", 10 / 10),
        ("an H100 does 989 TFLOP/s in TF32", "tf32", 989 / 494.7),
        ("RTX 4090: 1,321 TOPS", "int8", 1321 / 660.6),
        ("RTX 4090: 330 TOPS in fp8", "fp8", 330 / 330.3),
        ("H100 达到 4，000 TFLOP/s（FP8）", "fp8", 4000 / 1978.9),
        ("A B200 gives 9 petaFLOPS in fp4", "fp4", 9000 / 9000),
        ("H100 at 1,979 TFLOP/s", "bfloat16", 1979 / 989.4),
    ):
        claim = read_claim(text)
        assert (claim.kind, claim.dtype) == ("matmul", dtype), text
        assert rule(claim).ratio == pytest.approx(ratio), text
    refused("A100 SXM 80 GB has no peak for fp8", rule, read_claim("4,000 TFLOP/s fp8 on an A100"))


def test_a_number_below_nothing_is_read_with_its_sign_and_refused():
    for text, number in (
        ("7B at -5 tokens/s on an H100", "-5"),
        ("7B at −5 tok/s on an H100", "-5"),
        ("7B 在 H100 上 -5.5 词元/秒", "-5.5"),
        ("a forward pass of 7B on an H100 takes -3 ms", "-3"),
        ("-4,000 TFLOP/s in fp8 on an H100", "-4000"),
        ("train 7B on -1T tokens on an H100 in 3 days", "-1"),
    ):
        refused(f"^{number} is less than nothing; say a number above 0", read_claim, text)
    for text, number in (
        ("7B on an H100-SXM: 100-200 tok/s", 200),
        ("7B on A100-80GB at 5 tok/s", 5),
        ("7B in fp8 on x-4 H100: 5 tok/s", 5),
    ):
        assert read_claim(text).stated == number, text


def test_every_device_and_every_size_can_be_named():
    for key, device in DEVICES.items():
        name = device.name.replace(" SXM2", "")
        assert read_claim(f"7B fits on a {name}").device == key, name
    assert set(DEVICE_WORDS) == set(DEVICES)
    assert set(SIZE_WORDS) <= set(MODELS)
    assert set(DTYPE_OF) == set(FORMAT_WORDS)
    for key, spec in MODELS.items():
        assert read_claim(f"{spec.name} fits on an H200").model == key, spec.name


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", r"What is claimed\?"),
        ("it fits", r"No device is named"),
        ("it fits on an H100", r"No model is named"),
        ("7B at many tokens/s on an H100", r"Say how many tokens/s"),
        ("train 7B on 1T tokens on an H100", r"Say how long it takes"),
        ("train 7B on an H100 in 3 days", r"Say on how many tokens"),
        ("x" * 301, r"has 301 characters; use at most 300"),
        ("7B fits on " + "9" * 200 + " H100", r"num_devices is 9+; it must lie"),
        ("70B needs -4 H100", r"num_devices is -4; it must lie between 1"),
        ("70B needs 0 H100", r"num_devices is 0; it must lie between 1"),
        ("train 7B on " + "9" * 200 + "T tokens on an H100 in 1 day", r"num_tokens is 10+; it"),
        ("train 7B on 1T tokens on an H100 in " + "9" * 200 + " weeks", r"stated is .*; it must"),
        ("an H100 multiplies matrices at 0 TFLOP/s", r"no claim is about 0"),
        ("an H100 multiplies matrices", r"Say how long it takes"),
        ("7B at 0 tokens/s on an H100", r"no claim is about 0"),
        ("a forward pass of 7B on an H100 takes 0 ms", r"no claim is about 0"),
    ],
)
def test_what_is_missing_is_said(text, sentence):
    refused(sentence, read_claim, text)
