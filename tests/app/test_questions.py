"""The question of each page: its answer is computed, and hidden until the reader commits."""

from urllib.parse import parse_qsl

import pytest

from pages.dtypes.quantization.codes import ASKED as FORMATS
from pages.plan.model_sizes.question import ASKED as SIZES
from tests.app.shown import ask, commit, headline, said

INT8_13B = SIZES.index(("llama-2-13b", "int8_channel"))
LOW_PRECISION, ROUNDING = "dtypes/low_precision_training", "dtypes/rounding_and_overflow"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "key", "choice", "told"),
    [
        ("plan/model_sizes", "sizes_too_large", INT8_13B,
         ["`int8_channel` are 12.4 GiB: they fit.", "**Llama-2 13B in `bfloat16`**"]),
        ("plan/serving", "serving_how_many", 0,
         ["Weights 15.0 GiB, once for all; each sequence 1.00 GiB", "The answer is **7**."]),
        ("plan/parallelism?parallel_tab=stages", "parallel_fullest_stage", 1,
         ["holds the activations of all of them: 4"]),
        ("plan/parallelism?parallel_tab=moving", "parallel_ring_bytes", 2,
         ["a ring: 1.75 times", "sending the whole array to every other rank"]),
        ("plan/training_memory", "memory_moment", 1, ["together: 13.0 GiB beyond"]),
        ("plan/what_fits", "fits_train", 1,
         ["Each of 16 would have to hold 100 GiB", "On 32 of them each holds 65.5 GiB"]),
        ("plan/what_fits?fits_tab=map", "fits_70b", 2,
         ["On 2 of them each holds", "fewer are enough"]),
        ("plan/flops_and_time", "flops_longer", 0,
         ["it also sees twice as many", "The answer is **4 ×**", "both factors double"]),
        ("plan/flops_and_time?flops_tab=mfu&flops_measured=matmul", "flops_claim", 0,
         ["would need 2.75 PFLOP/s; the dense peak is 165 TFLOP/s", "**No: at least 832 µs**"]),
        ("dtypes/quantization", "quant_outliers", FORMATS.index("bfloat16"),
         ["`bfloat16` keeps 56.3 dB", "**int8_tensor**", "`int8_tensor`: 17.9 dB at 8 bits"]),
        (ROUNDING, "rounding_beyond", 1, ["after 448 would be 480", "The answer is"]),
        (ROUNDING, "rounding_small", 1, ["number of float16 is 5.96046…e-8", "The answer is"]),
        (f"{LOW_PRECISION}?lowp_tab=sums", "lowp_ones", 1, ["Right: **256**"]),
        (f"{LOW_PRECISION}?lowp_tab=updates", "lowp_weight", 2, ["Right: **1**"]),
        (f"{LOW_PRECISION}?lowp_tab=softmax", "lowp_exp", 2, ["Right: **inf**"]),
        (f"{LOW_PRECISION}?lowp_tab=scale", "lowp_least_scale", 0,
         ["it is no longer zero, but 5.96e-08", "The answer is **8,192**", "8.192e-05"]),
        ("plan/training_memory?memory_tab=allocator", "memory_reserved", 0,
         ["That is allocated.", "The answer is **20.0 MiB**", "15.0 MiB wait"]),
        ("dtypes/bit_layouts", "bits_below_one", 0, ["15,359 of 31,743"]),
        ("start/lessons?lessons_print=true", "lessons_seven_billion", 0,
         ["4 for its fp32 master copy", "bf16 weights alone"]),
    ],
)  # fmt: skip
def test_the_answer_is_computed_and_hidden_until_the_reader_commits(
    open_page, address, key, choice, told
):
    page, _sign, query = address.partition("?")
    app = open_page(page, **dict(parse_qsl(query)), **ask(key))
    options = app.radio(key=key).options
    assert len(set(options)) == len(options) >= 3
    for words in told:
        assert words not in said(app), words
    assert headline(commit(app, key, choice))
    for words in told:
        assert words in said(app), words


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_tab_that_computes_on_its_own_asks_a_question_of_its_own(open_page, language):
    tabs = ("sums", "updates", "softmax", "scale")
    asked = {
        open_page(LOW_PRECISION, lang=language, lowp_tab=tab, **ask("lowp_")).radio[0].key
        for tab in tabs
    }
    assert len(asked) == len(tabs)
    allocator = open_page(
        "plan/training_memory", lang=language, memory_tab="allocator", **ask("memory_")
    )
    assert [each.key for each in allocator.radio] == ["memory_reserved"]
