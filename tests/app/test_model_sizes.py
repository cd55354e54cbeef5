"""Model sizes: every tab, every stop of the slider, own configs and shapes, refusals."""

import json

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.weights.one_tensor import TENSORS
from core.budget.weights.sizes import SIZES
from tests.app.shown import OWN, alt, ask, headline, said
from tests.core.budget.usable import usable

PAGE = "plan/model_sizes"
TABS = ("model", "gguf", "parts")
REAL = "llama-2-7b,llama-2-13b,llama-2-70b"


def test_the_page_opens_on_llama_2_7b(open_page):
    app = open_page(PAGE)

    assert headline(app) == (
        "The weights of Llama-2 7B take 12.6 GiB in bfloat16: 6,738,415,616 × 2 bytes; "
        f"RTX 4090 ({usable('rtx-4090')}) holds bfloat16 and narrower"
    )
    assert [metric.value for metric in app.metric] == ["12.6 GiB", "6.52 GiB", "3.60 GiB"]
    assert "matrices + the_rest" in app.metric[0].help


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("tab", TABS)
def test_every_tab_has_a_picture_at_both_ends_of_the_slider(open_page, tab, language):
    for word in (next(iter(SIZES)), next(reversed(SIZES))):
        app = open_page(PAGE, lang=language, present="1", sizes_tab=tab, sizes_size=word)
        assert headline(app), word
        assert len(alt(app)) > 40, word


@pytest.mark.slow
def test_a_stop_of_the_slider_names_its_model_and_its_count(open_page):
    for word, size in list(SIZES.items())[1::3]:
        text = headline(open_page(PAGE, sizes_size=word, sizes_format="bfloat16"))
        assert f"of {size.name} take" in text, word
        assert f"{size.num_params:,} × 2" in text, word


def test_what_the_published_files_hold_beside_the_text_model_is_said(open_page):
    gemma = said(open_page(PAGE, sizes_size="gemma-3-27b"))
    assert "27,432,406,640 parameters" in gemma
    assert "423,060,336 for the vision encoder" in gemma
    kimi = said(open_page(PAGE, sizes_size="kimi-k2"))
    assert "23,040 for" in kimi
    assert "3,416 for numbers that no document explains" in kimi
    assert "published files" not in said(open_page(PAGE, sizes_size="llama-2-7b"))


def test_files_for_llama_cpp_and_models_without_a_recipe(open_page):
    app = open_page(PAGE, sizes_tab="gguf")
    assert headline(app) == (
        "Llama-2 7B in Q4_K_M is 3.80 GiB: 4.84 bits per weight; "
        f"RTX 4090 ({usable('rtx-4090')}) holds every format"
    )
    assert [metric.value for metric in app.metric] == ["6.67 GiB", "4.45 GiB", "3.80 GiB"]
    mixtral = headline(open_page(PAGE, sizes_tab="gguf", sizes_size="mixtral-8x7b"))
    assert "has experts or latent attention" in mixtral
    phi = open_page(PAGE, sizes_tab="gguf", sizes_size="phi-4")
    assert headline(phi).startswith("Phi-4 in Q8_0 is 14.")
    assert "Q4_K_M of Phi-4 is not worked out" in said(phi)
    assert "is a round number" in said(open_page(PAGE, sizes_tab="gguf", sizes_size="7b"))


def test_the_verdict_follows_the_device(open_page):
    for device, words in (
        ("t4", "holds bfloat16 and narrower"),
        ("h100-sxm", "holds every format"),
        ("local", "RTX 4090"),
    ):
        app = open_page(PAGE, sizes_device=device)
        assert words in headline(app), device
    assert "holds none" in headline(open_page(PAGE, sizes_size="500b"))
    tiny = open_page(PAGE, sizes_device="own", sizes_device_gib="1")
    assert "custom device (1.00 GiB) holds none of these formats" in headline(tiny)


def test_units_follow_the_reader(open_page):
    text = headline(open_page(PAGE, units="GB"))

    assert "13.5 GB in bfloat16" in text
    assert "GiB" not in text


def test_without_the_rest_a_quantized_model_is_smaller(open_page):
    whole = open_page(PAGE)
    codes = open_page(PAGE, sizes_rest="false")

    assert "int4_group128 3.60 GiB" in alt(whole)
    assert "int4_group128 3.24 GiB" in alt(codes)


def test_the_table_says_how_much_was_wrong_and_real_counts_have_no_such_note(open_page):
    assert "11 of 15 printed figures were wrong" in headline(open_page(PAGE, sizes_several="true"))
    real = open_page(PAGE, sizes_several="true", sizes_compared=REAL, sizes_scales="true")
    assert headline(real) == "Llama-2 70B takes 256.96 GiB in float32, 33.85 GiB in int4_group128"


def test_a_round_number_shows_the_parts_of_the_nearest_model_and_says_so(open_page):
    app = open_page(PAGE, sizes_tab="parts", sizes_size="0.1b")

    assert headline(app).startswith("GPT-2: 124,439,808 parameters")
    assert "0.1B is a round number" in said(app)


def test_every_famous_tensor_has_its_bytes(open_page):
    for key in TENSORS:
        app = open_page(PAGE, sizes_tab="parts", sizes_tensor=key)
        assert "numbers are" in headline(app), key
        assert "length_0 * length_1" in app.metric[0].help, key


def test_a_shape_of_ones_own_and_what_is_no_shape(open_page):
    own = {"sizes_tab": "parts", "sizes_tensor": "own"}

    small = open_page(PAGE, **own, sizes_shape="3 x 5")
    refused = open_page(PAGE, **own, sizes_shape="three")

    assert headline(small) == "3 × 5 numbers are 60 B in float32, 30 B in bfloat16"
    one = open_page(PAGE, **own, sizes_shape="1 x 1")
    assert headline(one) == "One number is 4 B in float32, 2 B in bfloat16"
    assert [each.value for each in refused.error] == [
        "“three” is no shape; write 1 to 6 whole numbers with × between them."
    ]
    assert headline(refused)


def test_an_own_config_takes_the_place_of_the_slider(open_page):
    app = open_page(PAGE, sizes_config=json.dumps(OWN))

    assert "of llama take 411 KiB in bfloat16: 210,240 × 2 bytes" in headline(app)
    slider = app.select_slider(key="sizes_size_choice")
    assert slider.disabled
    assert "num_params = 210_240" in app.session_state["snippets"]["model"]


def test_weights_follow_the_quantization_config_of_an_own_config(open_page):
    stored = {"quant_method": "awq", "bits": 4, "group_size": 32}
    app = open_page(PAGE, sizes_config=json.dumps(OWN | {"quantization_config": stored}))
    assert "as its quantization_config says (awq 4-bit, 32): " in headline(app)
    assert "awq 4-bit, 32" in alt(app)
    assert 'print(f"awq 4-bit, 32' in app.session_state["snippets"]["model"]
    wrong = OWN | {"quantization_config": stored | {"bits": 5}}
    refused = open_page(PAGE, sizes_config=json.dumps(wrong))
    assert "bits in quantization_config is 5; use 4" in said(refused)


def test_a_hostile_config_is_a_sentence_and_the_slider_stays(open_page):
    app = open_page(PAGE, sizes_config=json.dumps(OWN | {"vocab_size": -5}))

    assert any("vocab_size in config.json is -5" in each.value for each in app.error)
    assert "of Llama-2 7B take" in headline(app)


def test_every_tab_shows_code_that_runs(open_page, run_code):
    for tab, printed in (
        ("model", "int4_group128            3.60 GiB"),
        ("gguf", "4,080,263,168 bytes     3.80 GiB   4.844 bits per weight"),
        ("parts", "active for a token 6,607,347,712"),
    ):
        assert printed in run_code(open_page(PAGE, sizes_tab=tab), tab), tab


def test_code_needs_nothing_but_python_and_counts_as_core_does(open_page, run_code):
    for query, total in (
        ({"sizes_tab": "parts", "sizes_size": "deepseek-v3"}, "671,026,404,352"),
        ({"sizes_tab": "parts", "sizes_size": "gpt2"}, "124,439,808"),
        ({"sizes_rest": "false"}, "3.24 GiB"),
        ({"sizes_several": "true"}, "260.77 GiB"),
        ({"sizes_several": "true", "sizes_compared": REAL, "sizes_scales": "true"}, "33.85 GiB"),
        ({"sizes_tab": "parts", "sizes_tensor": "gpt3_ffn"}, "2.2500 GiB = 2,415,919,104 bytes"),
        ({"sizes_tab": "parts", "sizes_tensor": "own", "sizes_shape": "3 x 5"}, "60 bytes"),
    ):
        app = open_page(PAGE, **query)
        tab = query.get("sizes_tab", "model")
        assert total in run_code(app, tab), query
        assert "core" not in app.session_state["snippets"][tab], query


def test_only_the_tab_of_one_model_asks_about_it(open_page):
    asking = [tab for tab in TABS if open_page(PAGE, sizes_tab=tab, **ask("sizes_")).radio]

    assert asking == ["model"]


def test_a_device_is_named_in_the_picture(open_page):
    for device in list(DEVICES)[::4]:
        assert DEVICES[device].name in alt(open_page(PAGE, sizes_device=device)), device


def test_the_weights_are_at_first_as_the_makers_publish_them(open_page):
    for size, said_first in (
        ("gpt-oss-120b", "take 60.7 GiB in mxfp4"),
        ("deepseek-v3", "take 646 GiB in fp8_block128"),
        ("llama-2-7b", "take 12.6 GiB in bfloat16"),
    ):
        app = open_page(PAGE, sizes_size=size)
        assert said_first in headline(app)
        assert said_first.split()[-1] in alt(app), size
    stored = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    app = open_page(PAGE, sizes_config=json.dumps(OWN | {"quantization_config": stored}))
    assert "in int4_group128" in headline(app)
