"""Model and device of a budget page: the lists, the reader's own, and what cannot be read."""

import json
from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from pages.shared.plan.choices import (
    DEFAULT_DEVICE,
    DEFAULT_MODEL,
    device_label,
    model_label,
    stops,
)
from tests.made_probe import CPU, PROBE

SCRIPT = """
from pages.shared.plan.choices import choose_device, choose_model
from pages.shared.inputs import Inputs
model, device = choose_model(Inputs("demo")), choose_device(Inputs("demo"))
st.session_state["seen"] = (model, device)
"""
LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "intermediate_size": 11008,
    "vocab_size": 32000,
    "max_position_embeddings": 4096,
    "torch_dtype": "float16",
}


def seen(app):
    return app.session_state["seen"]


def texts(app):
    return [each.value for each in (*app.caption, *app.error, *app.info)]


def test_the_default_is_a_row_of_each_table_and_its_code_names_it(open_script):
    model, device = seen(open_script(SCRIPT))

    assert (model.key, device.key) == (DEFAULT_MODEL, DEFAULT_DEVICE)
    assert model.code == f'MODELS["{DEFAULT_MODEL}"]'
    assert device.code == f'DEVICES["{DEFAULT_DEVICE}"]'


def test_a_link_chooses_model_and_device(open_script):
    model, device = seen(open_script(SCRIPT, demo_model="deepseek-v3", demo_device="rtx-4090"))

    assert model.spec is MODELS["deepseek-v3"]
    assert device.device is DEVICES["rtx-4090"]


def test_the_lists_name_sizes():
    assert model_label("llama-2-70b").startswith("Llama-2 70B · 69.0 B · Meta\N{EM SPACE}")
    assert device_label("rtx-4090").startswith("NVIDIA RTX 4090 · 24.0 GiB\N{EM SPACE}")


def test_a_pasted_config_is_the_model_and_the_address_keeps_what_is_read(open_script):
    pasted = json.dumps(LLAMA, indent=2)

    app = open_script(SCRIPT, demo_model="own", demo_config=pasted)
    model, _device = seen(app)

    assert model.key == ""
    assert model.spec.hidden_dim == 4096
    assert "Read: `llama`, 6.74 B parameters." in texts(app)
    app.run()
    kept = json.loads(app.session_state["demo_config"])
    assert "torch_dtype" not in kept
    assert kept["hidden_size"] == 4096


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ("", "Until a config.json can be read"),
        ("{", "This is no JSON: line 1, column 2."),
        (json.dumps(LLAMA | {"hidden_size": -1}), "hidden_size in config.json is -1"),
    ],
)
def test_what_cannot_be_read_is_a_sentence_and_the_default_stays(open_script, config, sentence):
    app = open_script(SCRIPT, demo_model="own", demo_config=config)

    assert any(sentence in text for text in texts(app)), texts(app)
    assert seen(app)[0].key == DEFAULT_MODEL


def open_menu(app):
    app.session_state["demo_own_model"] = True
    return app.run()


def upload(app, data):
    return (
        open_menu(app).get("file_uploader")[0].upload("config.json", data, "application/json").run()
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])  # Windows writes a mark in front
def test_an_uploaded_config_goes_into_the_address(open_script, encoding):
    app = upload(open_script(SCRIPT, demo_model="own"), json.dumps(LLAMA).encode(encoding))

    assert seen(app)[0].spec.num_layers == 32
    assert json.loads(app.session_state["demo_config"])["num_hidden_layers"] == 32


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\xff\xfe", "The file is no text in UTF-8."),
        (b"[]", "A config.json is an object in braces"),
        (
            json.dumps(LLAMA | {"sliding_window": 9, "layer_types": ["x" * 40] * 32 * 4}).encode(),
            "layer_types in config.json lists 128 layers",
        ),
        (b'{"a": "' + b"x" * 100_000 + b'"}', "a config.json has at most 100,000"),
    ],
)
def test_an_upload_that_cannot_be_used_is_told(open_script, data, sentence):
    app = upload(open_script(SCRIPT, demo_model="own"), data)

    assert any(sentence in text for text in texts(app)), texts(app)
    assert seen(app)[0].key == DEFAULT_MODEL


LONG = LLAMA | {
    "sliding_window": 9, "num_hidden_layers": 300, "layer_types": ["sliding_attention"] * 300,
}  # fmt: skip


def paste(app, text):
    return open_menu(app).text_area(key="demo_config_text").set_value(text).run()


@pytest.mark.parametrize("way", [paste, lambda app, text: upload(app, text.encode())])
def test_what_no_link_can_hold_stays_in_the_session_and_says_so(open_script, way):
    app = way(open_script(SCRIPT, demo_model="own"), json.dumps(LONG, indent=4))

    assert seen(app)[0].spec.num_layers == 300
    assert any("a link holds at most 4,000" in text for text in texts(app))
    assert app.session_state["demo_config"] == ""
    app.run()
    assert seen(app)[0].spec.num_layers == 300
    paste(app, json.dumps(LLAMA))
    assert seen(app)[0].spec.num_layers == 32
    assert not any("a link holds" in text for text in texts(app))


def test_a_field_of_several_lines_takes_a_whole_file_and_shows_what_is_kept(open_script):
    """4,000 characters hold no indented config.json with a list of its layers; the field does."""
    pasted = json.dumps(LLAMA | {"layer_types": ["full_attention"] * 32, "notes": "x" * 9000})
    app = paste(open_script(SCRIPT, demo_model="own"), pasted)

    field = app.text_area(key="demo_config_text")
    assert field.proto.max_chars == 100_000
    assert seen(app)[0].spec.num_layers == 32
    assert field.value == app.session_state["demo_config"]
    assert "notes" not in field.value


def test_a_text_that_cannot_be_read_stays_in_the_field_to_be_mended(open_script):
    app = paste(open_script(SCRIPT, demo_model="own"), "{'a': 1}")
    assert app.text_area(key="demo_config_text").value == "{'a': 1}"
    assert any("This is no JSON" in text for text in texts(app))


def test_defaults_guesses_and_quantized_weights_are_told(open_script):
    config = LLAMA | {"model_type": "llama9", "quantization_config": {"quant_method": "fp8"}}
    del config["max_position_embeddings"]
    app = open_script(SCRIPT, demo_model="own", demo_config=json.dumps(config))

    (said,) = [text for text in texts(app) if text.startswith("Read:")]
    assert all(word in said for word in ("estimate", "max_position_embeddings: 2,048", "fp8"))


def test_a_device_of_ones_own_has_the_typed_numbers(open_script):
    app = open_script(
        SCRIPT,
        demo_device="own",
        demo_device_gib="48",
        demo_device_tflops="362",
        demo_device_gbs="864",
        demo_device_link="56",
    )
    device = seen(app)[1]

    assert device.key == ""
    assert device.device.memory_usable == 48 * 2**30
    assert device.device.peak["bfloat16"] == 362e12
    assert (device.device.bandwidth, device.device.link) == (864e9, 56e9)
    assert "48 * 2**30" in device.code


def test_this_computer_is_the_probed_device_and_a_sentence_before(open_script, monkeypatch):
    from pages.shared.plan import choices

    probe = replace(PROBE, cuda=None, devices=(CPU,))
    monkeypatch.setattr(choices, "cached_probe", lambda: None)
    before = open_script(SCRIPT, demo_device="local")
    monkeypatch.setattr(choices, "cached_probe", lambda: probe)
    after = open_script(SCRIPT, demo_device="local")

    assert any("has not been measured yet" in text for text in texts(before))
    assert seen(before)[1].key == DEFAULT_DEVICE
    assert seen(after)[1].device.name == "A CPU"


def test_stops_lie_close_enough_to_be_dragged_over():
    assert stops(1, 24) == (1, 2, 3, 4, 6, 8, 12, 16, 24)
    assert stops(128, 512) == (128, 192, 256, 384, 512)
