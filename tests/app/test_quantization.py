"""Quantization: every tab, the reader's own file, a weight of a run, and refusals."""

import io
import re

import numpy as np
import pytest
from safetensors.numpy import save

from pages.dtypes.quantization import tensor as quantization_tensor
from tests.app.shown import captions, headline
from tests.core.dtypes.blocks.test_read_safetensors import file_of

PAGE = "dtypes/quantization"
TABS = ("error", "codes", "standing", "nf4")
AT_FIRST = "error 0.648 %"  # of the normal tensor in format A
each_tab = pytest.mark.parametrize("tab", TABS)


def test_group_size_and_scale_rule_reach_the_formats_that_have_them(open_page):
    coarse = open_page(PAGE, quant_a="int4_group128", quant_b="mxfp4")
    fine = open_page(PAGE, quant_a="int4_group128", quant_b="mxfp4", quant_group="16")
    ceil = open_page(PAGE, quant_a="int4_group128", quant_b="mxfp4", quant_rule="ceil")

    assert "(4.125 bits per value): error 11.8 %" in headline(coarse)
    assert "`int4_group16` (5 bits per value): error 8.56 %" in headline(fine)
    for app, first, second in (
        (coarse, "18.6 dB (`int4_group128`)", "18.8 dB (`mxfp4`)"),
        (fine, "21.3 dB (`int4_group16`)", "18.8 dB (`mxfp4`)"),
        (ceil, "18.6 dB (`int4_group128`)", "17.3 dB (`mxfp4_ceil`)"),
    ):
        assert any(f"SQNR: {first}, {second}." in text for text in captions(app))


def test_values_beyond_a_format_without_a_scale_are_told_as_lost(open_page):
    for tab in ("codes", "error", "standing"):
        app = open_page(
            PAGE, quant_tab=tab, quant_tensor="ramp", quant_a="float8_e4m3fn", quant_b="float8_e5m2"
        )
        # 449 to 957 are 17 of 32 steps; 448 and what rounds to it stay
        first, second = headline(app).split("; ")
        assert "(53.1 % of the values lost)" in first, tab
        assert "lost" not in second, tab


@pytest.mark.parametrize(
    ("first", "second"), [("mxfp4", "int4_group128"), ("int8_tensor", "int4_channel")]
)
def test_the_code_of_every_tab_prints_the_numbers_of_its_headline(
    open_page, run_code, first, second
):
    for tab in TABS:
        app = open_page(
            PAGE, quant_tab=tab, quant_tensor="heavy_tailed", quant_size="64", quant_group="48",
            quant_a=first, quant_b=second, quant_rule="even", quant_model="13B",
        )  # fmt: skip
        assert list(app.session_state["snippets"]) == [tab]
        printed = set(re.findall(r"\d[0-9.]*", run_code(app)))
        said = set(re.findall(r"\d[0-9.]*", headline(app)))
        assert said - printed <= {"13"}, tab


def test_a_setting_that_no_format_hears_is_disabled(open_page):
    app = open_page(PAGE, quant_a="nvfp4", quant_b="bfloat16")
    assert group_size(app).disabled
    assert not group_size(open_page(PAGE, quant_a="nvfp4")).disabled


def group_size(app):
    return app.get("select_slider")[0]


def test_zeros_and_nan_are_said_in_a_sentence(open_page):
    zeros = open_page(PAGE, quant_tensor="all_zero")
    nan = open_page(PAGE, quant_tensor="one_nan", quant_a="int8_tensor")

    assert any("SQNR: ∞ dB (`int8_group128`)" in text for text in captions(zeros))
    assert any(text.startswith("All values are zero") for text in captions(zeros))
    assert "`int8_tensor`: nothing left" in headline(nan)
    assert any(text.startswith("1 value is NaN or infinite") for text in captions(nan))


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=array.dtype == object)
    return file.getvalue()


def said(app):
    """All errors on the page, without the backslashes that keep Markdown away."""
    return "\n".join(each.value for each in app.error).replace("\\", "")


def upload(app, data, name="mine.npy"):
    return app.get("file_uploader")[0].upload(name, data, "application/octet-stream").run()


@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 100), (2, 3, 33), (1200, 700)])
def test_an_uploaded_tensor_of_any_shape_is_drawn(open_page, shape):
    values = np.random.default_rng(0).normal(size=shape).astype(np.float32)

    app = upload(open_page(PAGE, quant_tensor="upload"), npy(values))

    assert headline(app)
    assert [each.value for each in app.error] == []
    was_cut = any("Looked at: the first 374 × 700 of a tensor" in text for text in captions(app))
    assert was_cut == (shape == (1200, 700))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (npy(np.array([{"a": 1}], dtype=object)), "pickled Python objects, which are never opened"),
        (b"\x93NUMPY" + bytes(6_000_000), "6.0 MB are too many: use at most 5 MB."),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_and_the_picture_stays(open_page, data, sentence):
    app = upload(open_page(PAGE, quant_tensor="upload"), data)

    assert sentence in said(app)
    assert AT_FIRST in headline(app)


def test_a_file_of_many_tensors_lets_the_reader_choose_one(open_page):
    rng = np.random.default_rng(0)
    tensors = {
        "bias": rng.normal(size=7).astype(np.float32),
        "blocks.0.up": rng.normal(size=(24, 6)).astype(np.float32),
        "blocks.1.up": (rng.normal(size=(24, 6)) * 1e6).astype(np.float32),
    }
    app = upload(open_page(PAGE, quant_tensor="upload"), save(tensors), "mine.safetensors")

    part = app.selectbox(key="quant_part")
    assert part.label == "Tensor of the file (3 in it)"
    assert part.options == [
        "bias · F32 · 7",
        "blocks.0.up · F32 · 24 × 6",
        "blocks.1.up · F32 · 24 × 6",
    ]
    assert part.value.name == "blocks.0.up"
    assert "'blocks.0.up'" in app.session_state["snippets"]["error"]

    part.select_index(0).run()

    assert [each.value for each in app.error] == []
    assert "read_tensor('mine.safetensors'" in app.session_state["snippets"]["error"]
    assert "'bias'" in app.session_state["snippets"]["error"]
    folded = "Shape 7 is looked at as 1 × 7: blocks run along the last axis."
    assert folded in captions(app)

    other = {"bias": np.full((), 2.5, np.float32)}
    upload(app, save(other), "other.safetensors")
    assert app.selectbox(key="quant_part").options == ["bias · F32 · ()"]
    assert headline(app)


def test_an_fp8_tensor_is_decoded_and_the_missing_scale_is_said(open_page):
    codes = np.arange(64, dtype=np.uint8)
    app = open_page(PAGE, quant_tensor="upload", quant_a="float8_e4m3fn", quant_b="float8_e5m2")

    upload(app, file_of({"w": fp8("F8_E4M3", 64)}, codes.tobytes()), "w.safetensors")

    assert "`float8_e4m3fn` (8 bits per value): error 0 %" in headline(app)
    assert any(text.startswith("The values are what `F8_E4M3` says:") for text in captions(app))


def test_packed_codes_of_a_gptq_file_are_said_to_be_no_weights(open_page):
    packed = np.arange(24, dtype=np.int32).reshape(6, 4)
    data = {"l.qweight": packed, "l.scales": np.ones((1, 4), np.float16)}
    app = upload(open_page(PAGE, quant_tensor="upload"), save(data), "gptq.safetensors")
    assert any("packed codes: each `I32`" in text for text in captions(app))
    app.selectbox(key="quant_part").select_index(1).run()
    assert any("the scales (`F16`) of another one" in text for text in captions(app))


def fp8(dtype, count):
    return {"dtype": dtype, "shape": [count], "data_offsets": [0, count]}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (file_of({"w": fp8("BOOL", 4)}, bytes(4)), "w holds BOOL, which is not read here"),
        (file_of({}, length=99), "The header ends beyond the end of the file"),
    ],
)
def test_a_file_of_tensors_that_cannot_be_used_is_refused_and_the_picture_stays(
    open_page, data, sentence
):
    app = upload(open_page(PAGE, quant_tensor="upload"), data, "a_b.safetensors")

    assert sentence in said(app)
    assert "a_b.safetensors: " in said(app)
    assert AT_FIRST in headline(app)


def test_the_code_of_an_uploaded_tensor_prints_what_the_page_says(
    open_page, tmp_path, monkeypatch, run_code
):
    tensors = {"w": np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32)}
    for name, data in (("w.npy", npy(tensors["w"])), ("w.safetensors", save(tensors))):
        app = upload(open_page(PAGE, quant_tensor="upload"), data, name)
        (tmp_path / name).write_bytes(data)
        monkeypatch.chdir(tmp_path)

        numbers = re.findall(r"[0-9.]+ (?:%|dB)", headline(app))
        printed = run_code(app, "error")
        assert [each for each in numbers if each not in printed] == [], name


def test_before_there_is_a_file_or_a_run_a_normal_tensor_is_shown(open_page):
    for source in ("upload", "run"):
        app = open_page(PAGE, quant_tensor=source)
        assert AT_FIRST in headline(app)
        texts = captions(app) + [each.value for each in app.info]
        assert any("ntil then a normal tensor is shown" in text for text in texts), source


@pytest.fixture
def run_with_checkpoint(a_run):
    """A run directory whose only checkpoint is an empty file: the reading child is replaced."""
    (a_run / "ckpt").mkdir()
    (a_run / "ckpt" / "step-00000001.pt").write_bytes(b"")
    return a_run


def test_a_weight_of_a_run_is_read_beside_the_page(open_page, run_with_checkpoint, monkeypatch):
    weight = np.random.default_rng(0).normal(size=(96, 24))
    asked = []
    monkeypatch.setattr(
        quantization_tensor, "read_weight", lambda run, key: asked.append((run, key)) or weight
    )

    app = open_page(PAGE, quant_tensor="run", quant_matrix="qkv")

    assert headline(app)
    assert asked == [(run_with_checkpoint, "qkv")]
    assert "read_weight(runs_directory() /" in app.session_state["snippets"]["error"]


def test_a_checkpoint_that_cannot_be_read_is_told(open_page, run_with_checkpoint, monkeypatch):
    def refuse(run, matrix):
        raise ValueError("step-00000001.pt cannot be read (EOFError).")

    monkeypatch.setattr(quantization_tensor, "read_weight", refuse)

    app = open_page(PAGE, quant_tensor="run", quant_matrix="out")

    assert [each.value for each in app.error] == ["step-00000001.pt cannot be read (EOFError)."]
    assert AT_FIRST in headline(app)


@pytest.mark.parametrize(("units", "memory"), [("GiB", "6.62 GiB"), ("GB", "7.11 GB")])
def test_the_bytes_of_a_model_are_in_the_readers_unit(open_page, units, memory):
    app = open_page(PAGE, units=units, quant_tab="standing")

    assert f"7B weights: `int8_group128` {memory}," in headline(app)
    assert app.metric[0].value == memory
    assert "codes + scales" in app.metric[0].help
