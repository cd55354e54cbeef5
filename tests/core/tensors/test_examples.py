"""Each preset does what its title says, at the sizes of the model that it names."""

import pytest
import torch

from core.budget import MODELS
from core.expressions import MATERIALIZED, ON_META
from core.models.gpt import GPT
from core.tensors.examples import PRESETS, counted, given, without_data
from core.tensors.trace import trace
from core.train.config import TrainConfig

REFUSED = {"refused", "merge"}


def run(key):
    preset = PRESETS[key]
    x, limits = given(preset.shape, preset.dtype)
    return trace(preset.source, {"x": x}, limits)


@pytest.mark.parametrize("key", PRESETS)
def test_a_preset_runs_or_is_refused_as_its_title_says(key):
    ended = run(key)
    assert (ended.error is not None) == (key in REFUSED)
    assert ("refuse" in PRESETS[key].title["en"]) == (key in REFUSED)
    assert ended.refused_shape is not None or key not in REFUSED


@pytest.mark.parametrize(
    ("key", "kinds"),
    [
        ("transpose", ["view"]),
        ("contiguous", ["view", "copy", "view"]),
        ("uneven", ["view", "view"]),
        ("slices", ["view", "view", "view"]),
        ("expand", ["view"]),
        ("shift", ["view", "copy"]),
        ("shift_8b", ["view", "copy"]),
        ("repeat_kv", ["view", "view", "copy"]),
        ("repeat_kv_70b", ["view", "view", "copy"]),
        ("fused_qkv", ["view", "view"]),
        ("cache", ["view", "view"]),
        ("gate", ["view", "view"]),
        ("last_token", ["view"]),
        ("windows", ["view"]),
        ("channels_last", ["copy"]),
    ],
)
def test_what_a_title_calls_a_view_or_a_copy_is_one(key, kinds):
    assert [step.kind for step in run(key).steps] == kinds


def test_titles_tell_of_strides_overlaps_and_hidden_copies():
    assert 0 in run("expand").steps[0].outputs[0].layout.stride
    assert 0 in run("mask").steps[-1].outputs[0].layout.stride
    assert run("windows").steps[0].outputs[0].layout.overlaps_itself
    assert not run("uneven").steps[0].outputs[0].layout.is_contiguous
    for key in ("scores", "scores_70b"):
        names = [row.name for row in run(key).steps[-1].aten]
        assert names.count("aten.clone.default") == 2


def test_the_shifted_logits_of_a_large_batch_are_copied_whole():
    copied = run("shift_8b").steps[-1].bytes_copied
    assert copied == 8 * 4095 * 128_256 * 2


def test_sizes_are_those_of_the_models_that_are_named():
    named = {key: MODELS[preset.model] for key, preset in PRESETS.items() if preset.model}
    assert len(named) == 5
    # which dimension has which size of the model
    dims = {
        "heads_gpt2": {1: "seq_len", 2: "hidden_dim"},
        "merge": {1: "num_heads", 2: "seq_len", 3: "head_dim"},
        "shift_8b": {1: "seq_len", 2: "vocab_size"},
        "repeat_kv_70b": {1: "num_kv_heads", 2: "seq_len", 3: "head_dim"},
        "scores_70b": {1: "seq_len", 2: "hidden_dim"},
    }
    assert dims.keys() == named.keys()
    for key, names in dims.items():
        for dim, name in names.items():
            size, most = PRESETS[key].shape[dim], getattr(named[key], name)
            assert size <= most if name == "seq_len" else size == most, (key, name)
    heads = run("scores_70b").steps[-1].outputs[0].layout.shape[1]
    assert heads == named["scores_70b"].num_heads
    assert run("repeat_kv_70b").steps[-1].outputs[0].layout.shape[1] == heads


def test_a_tensor_has_data_as_long_as_it_is_small():
    x, limits = given((512, 512))
    assert (limits, x.is_meta) == (MATERIALIZED, False)
    assert torch.equal(x.flatten(), torch.arange(512.0 * 512))
    x, limits = given((512, 513))
    assert (limits, x.is_meta) == (ON_META, True)


def test_numbers_of_narrow_dtypes_begin_again_or_are_rounded():
    assert counted((300,), "uint8")[-1] == 299 - 256
    assert counted((2050,), "float16")[-1] == 2048


def test_more_bytes_than_an_int64_can_count_are_refused():
    assert without_data((2**60, 1), "float32").numel() == 2**60
    with pytest.raises(ValueError, match=r"bytes; sizes end below 2\*\*63"):
        without_data((2**61, 1), "float32")


def test_the_small_gpt_has_the_shapes_that_its_examples_say():
    shape = TrainConfig().shape(vocab_size=65)
    attention = GPT(shape).blocks[0].attention
    seen = []
    attention.qkv.register_forward_hook(lambda _module, _inputs, out: seen.append(out.shape))
    attention(torch.zeros(1, shape.seq_len, shape.hidden_dim))

    assert PRESETS["own_qkv"].shape == tuple(seen[0])
    assert f"H={shape.num_heads}" in PRESETS["own_qkv"].source
    assert PRESETS["own_weight"].shape == tuple(attention.qkv.weight.shape)
    assert [step.kind for step in run("own_weight").steps] == ["view", "view"]
    first, *_others, product = run("own_qkv").steps
    assert first.kind == "view"
    assert product.outputs[0].layout.shape[1] == shape.num_heads
