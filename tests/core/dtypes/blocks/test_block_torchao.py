"""Block formats beside torchao 0.18: the same codes and scales, but for the differences listed.

Where we differ, and why:

1. MX, blocks whose scale is 2**-127 (code 0; their largest magnitude is below about 2**-111):
   torchao divides by 2**-126, or under rceil by 1, because compiled kernels flush 2**-127. Its
   elements are then half as large as they should be, or zero. The scales are the same.
2. MX, rceil: torchao takes a float32 logarithm, which rounds: a largest magnitude just above
   2**k * max gets the scale 2**k, and is clipped. We round up, as the PTX instruction does.
3. MX, elements under a NaN scale: they mean nothing, and torchao fills them with what falls out.
4. NVFP4, all-zero tensor with a tensor scale: torchao divides 0 by 0, and the tensor becomes NaN.
5. NVFP4, tensor scale below 2.9e-39: its inverse overflows float32, and torchao clips every value.
6. NVFP4 without tensor scale, infinity: torchao clips it, and the block with it; for us what shares
   a scale with an infinity is lost (with a tensor scale it is for torchao, too).
7. Integers with a float16 scale: torchao computes 1 / scale in float16, with 11 bits, and zero
   points from the scale before it was rounded to float16. We use what is stored.
"""

import logging
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from core.dtypes import BLOCK_FORMATS
from core.dtypes.blocks.scale_rules import SCALE_RULES
from tests.core.dtypes.blocks.test_block_codec import every_exponent, weights

pytestmark = pytest.mark.slow  # importing torchao takes seconds

ELEMENTS = {
    "mxfp8_e4m3": torch.float8_e4m3fn,
    "mxfp8_e5m2": torch.float8_e5m2,
    "mxfp6_e2m3": "fp6_e2m3",
    "mxfp6_e3m2": "fp6_e3m2",
    "mxfp4": torch.float4_e2m1fn_x2,
}


@pytest.fixture(scope="module")
def torchao():
    """Import torchao, which warns about kernels for devices that are not here."""
    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torchao.prototype.mx_formats import config, mx_tensor, nvfp4_tensor
        from torchao.quantization import quant_primitives
    logging.disable(logging.NOTSET)
    return SimpleNamespace(
        to_mx=mx_tensor.to_mx,
        to_dtype=mx_tensor.to_dtype,
        rules={rule: config.ScaleCalculationMode[rule.upper()] for rule in SCALE_RULES},
        nvfp4_quantize=nvfp4_tensor.nvfp4_quantize,
        tensor_scale=nvfp4_tensor.per_tensor_amax_to_scale,
        find_scale=quant_primitives.choose_qparams_affine,
        quantize=quant_primitives.quantize_affine,
        mappings=quant_primitives.MappingType,
    )


def halves(packed):
    """Return the two codes of each byte, the low half first."""
    array = packed.numpy()
    return np.stack([array & 15, array >> 4], axis=-1).reshape(array.shape[0], -1)


def mx(torchao, name, x, rule):
    """Return torchao's scale codes and element codes."""
    scales, codes = torchao.to_mx(torch.tensor(x), ELEMENTS[name], 32, torchao.rules[rule])
    codes = halves(codes) if name == "mxfp4" else codes.view(torch.uint8).numpy()
    return scales.view(torch.uint8).numpy(), codes


def nvfp4(torchao, x, *, tensor_scale):
    """Return torchao's tensor scale, scale codes and element codes."""
    values = torch.tensor(x)
    scale = torchao.tensor_scale(values.abs().max()) if tensor_scale else None
    scales, codes = torchao.nvfp4_quantize(values, per_tensor_scale=scale)
    return scale, scales.view(torch.uint8).numpy(), halves(codes)


@pytest.mark.parametrize("rule", SCALE_RULES)
@pytest.mark.parametrize("name", sorted(ELEMENTS))
def test_mx_codes_and_scales_of_torchao(torchao, name, rule):
    for x in (weights(512, 1024), every_exponent(8192, 32)):
        scales, codes = mx(torchao, name, x, rule)
        ours = BLOCK_FORMATS[name].quantize(x, rule)
        np.testing.assert_array_equal(ours.scale_codes, scales)
        lowest = ours.per_value(ours.scale_codes) == 0  # difference 1
        np.testing.assert_array_equal(ours.codes[~lowest], codes[~lowest])


@pytest.mark.parametrize("name", sorted(ELEMENTS))
def test_mx_values_that_torchao_reads_back(torchao, name):
    x = weights(64, 64)
    scales, codes = torchao.to_mx(torch.tensor(x), ELEMENTS[name], 32)
    theirs = torchao.to_dtype(codes, scales, ELEMENTS[name], 32, torch.float32).numpy()
    np.testing.assert_array_equal(BLOCK_FORMATS[name].round(x), theirs)


@pytest.mark.parametrize("name", sorted(ELEMENTS))
def test_difference_1_under_the_smallest_scale_torchao_divides_by_another_one(torchao, name):
    x = np.random.default_rng(6).uniform(-(2.0**-125), 2.0**-125, (64, 32)).astype(np.float32)
    block = BLOCK_FORMATS[name]
    for rule, divisor in (("floor", 2.0**-126), ("ceil", 2.0**-126), ("rceil", 1.0)):
        scales, codes = mx(torchao, name, x, rule)
        ours = block.quantize(x, rule)
        assert (scales == 0).all()
        np.testing.assert_array_equal(ours.codes, block.element.encode(x * 2.0**127))
        np.testing.assert_array_equal(codes, block.element.encode(x / divisor))
        assert (ours.codes != codes).any()


@pytest.mark.parametrize("name", sorted(ELEMENTS))
def test_difference_2_the_logarithm_of_torchao_rounds_down_above_a_power_of_two(torchao, name):
    largest = np.float32(BLOCK_FORMATS[name].element.max)
    bounds = np.ldexp(largest, np.arange(-100, 100)).astype(np.float32)
    steps = np.arange(-8, 200)
    amax = (bounds.view(np.int32)[:, None] + steps).astype(np.int32).view(np.float32)
    x = np.zeros((amax.size, 32), np.float32)
    x[:, 0] = amax.reshape(-1)
    theirs, _ = mx(torchao, name, x, "rceil")
    difference = BLOCK_FORMATS[name].quantize(x, "rceil").scale_codes.astype(int) - theirs
    difference = difference.reshape(amax.shape)
    assert set(np.unique(difference)) == {0, 1}
    assert (difference[:, steps <= 0] == 0).all()  # up to 2**k * max both choose 2**k
    assert (difference[:, steps == 1] == 1).any()
    assert (difference[:, steps > 128] == 0).all()  # 128 / 2**23 is what the logarithm loses


@pytest.mark.parametrize("rule", SCALE_RULES)
@pytest.mark.parametrize("name", sorted(ELEMENTS))
def test_mx_blocks_with_infinities_are_those_of_torchao_and_a_nan_spoils_the_block(
    torchao, name, rule
):
    x = weights(3, 32, scale=1.0)
    x[0, 3], x[1, 4], x[2, 5] = np.inf, -np.inf, np.nan
    scales, codes = mx(torchao, name, x, rule)
    ours = BLOCK_FORMATS[name].quantize(x, rule)
    np.testing.assert_array_equal(ours.scale_codes, scales)
    np.testing.assert_array_equal(ours.codes[:2], codes[:2])  # difference 3: the third is all NaN
    assert scales[2, 0] == 0xFF


@pytest.mark.parametrize("tensor_scale", [False, True])
def test_nvfp4_codes_and_scales_of_torchao(torchao, tensor_scale):
    block = BLOCK_FORMATS["nvfp4" if tensor_scale else "nvfp4_one_level"]
    outliers = weights(256, 1024, seed=2)
    outliers[np.random.default_rng(3).random(outliers.shape) < 0.001] *= 50
    for x in (weights(512, 1024), outliers, every_exponent(4096, 32), weights(64, 64, scale=1e6)):
        scale, scales, codes = nvfp4(torchao, x, tensor_scale=tensor_scale)
        ours = block.quantize(x)
        assert ours.tensor_scale == (scale.item() if tensor_scale else None)
        np.testing.assert_array_equal(ours.scale_codes, scales)
        np.testing.assert_array_equal(ours.codes, codes)


def test_difference_4_a_tensor_of_zeros_is_nan_in_torchao(torchao):
    x = np.zeros((2, 32), np.float32)
    _, scales, _ = nvfp4(torchao, x, tensor_scale=True)
    assert (scales & 0x7F == 0x7F).all()
    assert (BLOCK_FORMATS["nvfp4"].round(x) == 0).all()
    _, scales, codes = nvfp4(torchao, x, tensor_scale=False)
    ours = BLOCK_FORMATS["nvfp4_one_level"].quantize(x)
    np.testing.assert_array_equal(ours.scale_codes, scales)
    np.testing.assert_array_equal(ours.codes, codes)


def test_difference_5_torchao_clips_every_value_of_a_tiny_tensor(torchao):
    x = weights(4, 32, scale=1e-37)
    scale, scales, codes = nvfp4(torchao, x, tensor_scale=True)
    ours = BLOCK_FORMATS["nvfp4"].quantize(x)
    assert scale.item() == ours.tensor_scale < 2.9e-39
    np.testing.assert_array_equal(ours.scale_codes, scales)
    assert (codes & 7 == 7).all()
    restored = BLOCK_FORMATS["nvfp4"].dequantize(ours)
    assert np.abs(restored - x).max() < 0.25 * np.abs(x).max()


def test_difference_6_torchao_clips_an_infinity_under_a_block_scale(torchao):
    x = weights(2, 16, scale=1.0)
    x[0, 3] = np.inf
    _, scales, codes = nvfp4(torchao, x, tensor_scale=False)
    assert (scales[0, 0], codes[0, 3]) == (0x7E, 7)  # 448 * 6
    ours = BLOCK_FORMATS["nvfp4_one_level"].quantize(x)
    assert ours.scale_codes.tolist() == [[0x7F], [scales[1, 0]]]
    _, scales, _ = nvfp4(torchao, x, tensor_scale=True)
    assert scales[1, 0] == 0x20 >> 2  # in torchao the rest drowns beside an infinite tensor scale
    assert np.isnan(BLOCK_FORMATS["nvfp4"].round(x)).all()


INTEGERS = {
    "int8_tensor": (None, 127),
    "int8_channel": (1024, 127),
    "int8_group128": (128, 127),
    "int4_tensor": (None, 7),
    "int4_channel": (1024, 7),
    "int4_group128": (128, 7),
    "int8_tensor_affine": (None, 255),
    "int4_group128_affine": (128, 15),
}


@pytest.mark.parametrize("name", sorted(INTEGERS))
def test_integer_codes_and_scales_of_torchao(torchao, name):
    size, top = INTEGERS[name]
    block = BLOCK_FORMATS[name]
    x = np.random.default_rng(4).standard_t(4, (512, 1024)).astype(np.float32)
    shape = (1, size) if size else x.shape
    kind, low = (torch.int8, -top) if block.symmetric else (torch.uint8, 0)
    mapping = torchao.mappings.SYMMETRIC if block.symmetric else torchao.mappings.ASYMMETRIC
    limits = {"quant_min": low, "quant_max": top}
    stored = getattr(torch, block.scale.name)
    scales, zeros = torchao.find_scale(
        torch.tensor(x), mapping, shape, kind, eps=1e-12, scale_dtype=stored, **limits
    )
    ours = block.quantize(x)
    np.testing.assert_array_equal(ours.scales.reshape(-1), scales.double().reshape(-1).numpy())
    if ours.zero_points is not None:
        moved = np.abs(ours.zero_points.reshape(-1) - zeros.reshape(-1).numpy())
        assert moved.max() <= (1 if stored is torch.float16 else 0)  # difference 7
        assert np.count_nonzero(moved) < 0.005 * moved.size
        zeros = torch.tensor(ours.zero_points, dtype=torch.int32)
    # difference 7: handed over as float32, the same scale is inverted with 24 bits
    codes = torchao.quantize(torch.tensor(x), shape, scales.float(), zeros, kind, **limits).numpy()
    np.testing.assert_array_equal(block.element.decode(ours.codes), codes)


def test_difference_7_an_inverse_with_eleven_bits_moves_some_codes_by_one(torchao):
    block = BLOCK_FORMATS["int8_group128"]
    x = np.random.default_rng(4).standard_t(4, (512, 1024)).astype(np.float32)
    ours = block.quantize(x)
    scales = torch.tensor(ours.scales, dtype=torch.float16)
    limits = {"quant_min": -127, "quant_max": 127}
    zeros = torch.zeros(scales.shape, dtype=torch.int32)
    codes = torchao.quantize(torch.tensor(x), (1, 128), scales, zeros, torch.int8, **limits).numpy()
    moved = np.abs(block.element.decode(ours.codes) - codes)
    assert moved.max() == 1
    assert 0 < np.count_nonzero(moved) < 0.01 * x.size


@pytest.mark.parametrize("name", ["fp8_tensor", "fp8_block128"])
def test_fp8_scaling_is_amax_over_448_and_a_cast_of_torch(name):
    x = np.random.default_rng(5).standard_t(4, (256, 1024)).astype(np.float32)
    blocks = (
        torch.tensor(x).reshape(1, -1) if name == "fp8_tensor" else torch.tensor(x).view(-1, 128)
    )
    scales = blocks.abs().amax(dim=1, keepdim=True) / 448
    codes = (blocks / scales).to(torch.float8_e4m3fn).view(torch.uint8)
    ours = BLOCK_FORMATS[name].quantize(x)
    np.testing.assert_array_equal(ours.scales.reshape(-1), scales.double().reshape(-1).numpy())
    np.testing.assert_array_equal(ours.codes, codes.numpy().reshape(x.shape))
