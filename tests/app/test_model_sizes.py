"""Model sizes: every tab, every stop of the slider, own configs and shapes, refusals."""

import json

import pytest

from core.budget.weights.one_tensor import TENSORS
from core.budget.weights.sizes import SIZES
from tests.app.shown import OWN, alt, headline, said
from tests.core.budget.usable import usable

PAGE = "plan/model_sizes"
TABS = ("model", "gguf", "parts")
LLAMA = {"plan_model": "llama-2-7b", "plan_device": "rtx-4090"}
REAL = "llama-2-7b,llama-2-13b,llama-2-70b"


@pytest.fixture
def sizes(open_page):
    """Return sizes(**query): the page with Llama-2 7B on a 24 GB card, or what the query says."""
    return lambda **query: open_page(PAGE, **LLAMA | query)


def test_the_page_opens_on_llama_2_7b(sizes):
    app = sizes()

    assert headline(app) == (
        "The weights of Llama-2 7B take 12.6 GiB in bfloat16: 6,738,415,616 × 2 bytes; "
        f"RTX 4090 ({usable('rtx-4090')}) holds bfloat16 and narrower"
    )
    assert [metric.value for metric in app.metric] == ["12.6 GiB", "6.52 GiB", "3.60 GiB"]
    assert "matrices + the_rest" in app.metric[0].help


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("tab", TABS)
def test_every_tab_has_a_picture_of_the_smallest_and_the_largest_model(sizes, tab, language):
    for query in ({"sizes_params": "0.1"}, {"plan_model": next(reversed(SIZES))}):
        app = sizes(lang=language, present="1", sizes_tab=tab, **query)
        assert headline(app), query
        assert len(alt(app)) > 40, query


def test_what_the_published_files_hold_beside_the_text_model_is_said(sizes):
    gemma = said(sizes(plan_model="gemma-3-27b"))
    assert "27,432,406,640 parameters" in gemma
    assert "423,060,336 for the vision encoder" in gemma
    kimi = said(sizes(plan_model="kimi-k2"))
    assert "23,040 for" in kimi
    assert "3,416 for numbers that no document explains" in kimi
    assert "published files" not in said(sizes(plan_model="llama-2-7b"))


def test_files_for_llama_cpp_and_models_without_a_recipe(sizes):
    app = sizes(sizes_tab="gguf")
    assert headline(app) == (
        "Llama-2 7B in Q4_K_M is 3.80 GiB: 4.84 bits per weight; "
        f"RTX 4090 ({usable('rtx-4090')}) holds every format"
    )
    assert [metric.value for metric in app.metric] == ["6.67 GiB", "4.45 GiB", "3.80 GiB"]
    mixtral = headline(sizes(sizes_tab="gguf", plan_model="mixtral-8x7b"))
    assert "has experts or latent attention" in mixtral
    phi = sizes(sizes_tab="gguf", plan_model="phi-4")
    assert headline(phi).startswith("Phi-4 in Q8_0 is 14.")
    assert "Q4_K_M of Phi-4 is not worked out" in said(phi)
    assert "is a round number" in said(sizes(sizes_tab="gguf", sizes_params="7"))


def test_the_verdict_follows_the_device(sizes):
    for device, words in (
        ("t4", "holds bfloat16 and narrower"),
        ("h100-sxm", "holds every format"),
        ("local", "H100 SXM"),
    ):
        app = sizes(plan_device=device)
        assert words in headline(app), device
    assert "holds none" in headline(sizes(sizes_params="500"))
    tiny = sizes(plan_device="own", plan_device_gib="1")
    assert "custom device (1.00 GiB) holds none of these formats" in headline(tiny)


def test_units_follow_the_reader(sizes):
    text = headline(sizes(units="GB"))

    assert "13.5 GB in bfloat16" in text
    assert "GiB" not in text


def test_without_the_rest_a_quantized_model_is_smaller(sizes):
    whole = sizes()
    codes = sizes(sizes_rest="false")

    assert "int4_group128 3.60 GiB" in alt(whole)
    assert "int4_group128 3.24 GiB" in alt(codes)


def test_the_table_says_how_much_was_wrong_and_real_counts_have_no_such_note(sizes):
    assert "11 of 15 printed figures were wrong" in headline(sizes(sizes_several="true"))
    real = sizes(sizes_several="true", sizes_compared=REAL, sizes_scales="true")
    assert headline(real) == "Llama-2 70B takes 256.96 GiB in float32, 33.85 GiB in int4_group128"


def test_a_round_number_shows_the_parts_of_the_nearest_model_and_says_so(sizes):
    app = sizes(sizes_tab="parts", sizes_params="0.1")

    assert headline(app).startswith("GPT-2: 124,439,808 parameters")
    assert "0.1B is a round number" in said(app)


def test_every_famous_tensor_has_its_bytes(sizes):
    for key in TENSORS:
        app = sizes(sizes_tab="parts", sizes_tensor=key)
        assert "numbers are" in headline(app), key
        assert "length_0 * length_1" in app.metric[0].help, key


def test_a_shape_of_ones_own_and_what_is_no_shape(sizes):
    own = {"sizes_tab": "parts", "sizes_tensor": "own"}

    small = sizes(**own, sizes_shape="3 x 5")
    refused = sizes(**own, sizes_shape="three")

    assert headline(small) == "3 × 5 numbers are 60 B in float32, 30 B in bfloat16"
    one = sizes(**own, sizes_shape="1 x 1")
    assert headline(one) == "One number is 4 B in float32, 2 B in bfloat16"
    assert [each.value for each in refused.error] == [
        "“three” is no shape; write 1 to 6 whole numbers with × between them."
    ]
    assert headline(refused)


def test_an_own_config_takes_the_place_of_the_model(sizes):
    app = sizes(plan_model="own", plan_config=json.dumps(OWN))

    assert "of llama take 411 KiB in bfloat16: 210,240 × 2 bytes" in headline(app)
    assert "(210240, {" in app.session_state["snippets"]["model"]


def test_weights_follow_the_quantization_config_of_an_own_config(sizes):
    stored = {"quant_method": "awq", "bits": 4, "group_size": 32}
    app = sizes(plan_model="own", plan_config=json.dumps(OWN | {"quantization_config": stored}))
    assert "as its quantization_config says (awq 4-bit, 32): " in headline(app)
    assert "awq 4-bit, 32" in alt(app)
    assert 'print(f"awq 4-bit, 32' in app.session_state["snippets"]["model"]
    wrong = OWN | {"quantization_config": stored | {"bits": 5}}
    refused = sizes(plan_model="own", plan_config=json.dumps(wrong))
    assert "bits in quantization_config is 5; use 4" in said(refused)


def test_a_hostile_config_is_a_sentence_and_the_default_model_stays(sizes):
    app = sizes(plan_model="own", plan_config=json.dumps(OWN | {"vocab_size": -5}))

    assert any("vocab_size in config.json is -5" in each.value for each in app.error)
    assert "of Llama-3.1 8B take" in headline(app)


def test_code_needs_nothing_but_python_and_counts_as_core_does(sizes, run_code):
    for query, total in (
        ({"sizes_tab": "parts", "plan_model": "deepseek-v3"}, "671,026,404,352"),
        ({"sizes_tab": "parts", "plan_model": "gpt2"}, "124,439,808"),
        ({"sizes_rest": "false"}, "3.24 GiB"),
        ({"sizes_several": "true"}, "260.77 GiB"),
        ({"sizes_several": "true", "sizes_compared": REAL, "sizes_scales": "true"}, "33.85 GiB"),
        ({"sizes_tab": "parts", "sizes_tensor": "gpt3_ffn"}, "2.2500 GiB = 2,415,919,104 bytes"),
        ({"sizes_tab": "parts", "sizes_tensor": "own", "sizes_shape": "3 x 5"}, "60 bytes"),
    ):
        app = sizes(**query)
        tab = query.get("sizes_tab", "model")
        assert total in run_code(app, tab), query
        assert "core" not in app.session_state["snippets"][tab], query


def test_the_weights_are_at_first_as_the_makers_publish_them(sizes):
    for size, said_first in (
        ("gpt-oss-120b", "take 60.7 GiB in mxfp4"),
        ("deepseek-v3", "take 646 GiB in fp8_block128"),
        ("llama-2-7b", "take 12.6 GiB in bfloat16"),
    ):
        app = sizes(plan_model=size)
        assert said_first in headline(app)
        assert said_first.split()[-1] in alt(app), size
    stored = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    app = sizes(plan_model="own", plan_config=json.dumps(OWN | {"quantization_config": stored}))
    assert "in int4_group128" in headline(app)
