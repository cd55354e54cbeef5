"""Bytes of stored weights: bits counted by hand, the formats' own, the parameters of modules."""

from dataclasses import replace

import pytest

from core.budget.catalogue.models import MODELS
from core.budget.weights.parameters import counts
from core.budget.weights.stored import quantized_weights, serving_weights
from core.dtypes import BLOCK_FORMATS, FORMATS
from core.dtypes.blocks.gguf_formats import GGUF_FORMATS
from core.models.build import build_model
from core.units import GIB

SEVEN = 7 * 10**9


@pytest.mark.parametrize("name", [*BLOCK_FORMATS, "bfloat16", "float8_e4m3fn", "float4_e2m1fn"])
def test_the_bytes_are_the_bits_per_value(name):
    fmt = BLOCK_FORMATS.get(name) or FORMATS[name]
    bits = fmt.bits_per_value if name in BLOCK_FORMATS else fmt.bits

    expected = pytest.approx(SEVEN * bits / 8, abs=8)  # a begun block counts whole
    assert quantized_weights(SEVEN, fmt).amount == expected


def test_files_of_gpt_oss_have_the_published_size():
    # Its model card, arXiv 2508.10925, table 1: only the experts are in MXFP4.
    for name, published in (("gpt-oss-20b", 12.8), ("gpt-oss-120b", 60.8)):
        files = serving_weights(MODELS[name], "mxfp4")
        assert files.amount / GIB == pytest.approx(published, rel=0.002), name
        own = counts(MODELS[name])
        assert files.children[0].amount == own.experts * 4.25 / 8, name


def test_the_parts_are_named_and_add_up():
    affine = quantized_weights(SEVEN, BLOCK_FORMATS["int4_group128_affine"])
    double = quantized_weights(SEVEN, BLOCK_FORMATS["nf4_double_quant"])

    assert [part.name for part in affine.children] == ["codes", "scales", "zero points"]
    assert [part.name for part in double.children] == ["codes", "scales", "scales of the scales"]
    for item in (affine, double):
        assert item.amount == sum(part.amount for part in item.children)
        assert item.num_bytes == item.amount


def test_a_begun_byte_and_a_begun_block_count_whole():
    assert quantized_weights(1, BLOCK_FORMATS["nvfp4"]).num_bytes == 1 + 1
    assert quantized_weights(3, FORMATS["float4_e2m1fn"]).num_bytes == 2
    assert quantized_weights(129, BLOCK_FORMATS["int4_group128"]).num_bytes == 65 + 2 * 2
    assert quantized_weights(65, BLOCK_FORMATS["nf4_double_quant"]).num_bytes == 33 + 2 + 4


KINDS = ("gpt2", "llama-3.1-8b", "qwen3-32b", "gemma-2-9b", "mixtral-8x7b", "deepseek-v3")


def shallow(spec, num_layers=2):
    """The same model with few layers, one of them dense if there were dense ones."""
    mixture = spec.mixture
    if mixture is not None:
        mixture = replace(mixture, num_dense_layers=min(1, mixture.num_dense_layers))
    return replace(
        spec,
        num_layers=num_layers,
        num_windowed_layers=min(num_layers, spec.num_windowed_layers),
        mixture=mixture,
    )


def is_quantized(name, parameter):
    """Matrices of the layers: their biases, norms and routers stay as they are."""
    return name.startswith("blocks.") and parameter.dim() > 1 and "router" not in name


def test_weights_are_the_parameters_of_the_module_matrix_by_matrix():
    fmt = BLOCK_FORMATS["int4_group128"]
    for name in KINDS:
        spec = shallow(MODELS[name])
        expected = 0
        for path, parameter in build_model(spec).named_parameters():
            if is_quantized(path, parameter):
                expected += parameter.numel() * 4 // 8 + parameter.numel() // 128 * 2
            else:
                expected += parameter.numel() * 2
        assert fmt.scale.bits == 16
        assert serving_weights(spec, "int4_group128").num_bytes == expected, name


def test_sixteen_bit_weights_are_two_bytes_a_parameter_and_float32_four():
    for name, spec in MODELS.items():
        parameters = sum(each.numel() for each in build_model(shallow(spec)).parameters())
        assert serving_weights(shallow(spec)).amount == 2 * parameters, name
    assert serving_weights(shallow(spec), "float32").amount == 4 * parameters


def test_blocks_of_gguf_are_counted_whole():
    """256 numbers of Q4_K have 144 bytes, 32 of Q8_0 have 34."""
    two = quantized_weights(257, GGUF_FORMATS["Q4_K"])
    assert [part.num_bytes for part in two.children] == [2 * 128, 2 * 16]
    assert quantized_weights(SEVEN, GGUF_FORMATS["Q8_0"]).amount == SEVEN * 8.5 / 8
