"""NF4 beside bitsandbytes 0.50.2: the same codes and scales, but for the differences listed.

Where we differ, and why:

1. Blocks: bitsandbytes runs them through the flattened tensor, ours end with a row. A row whose
   length is a multiple of 64 is the same for both.
2. Largest magnitudes below 1e-38 count as 1e-38 in bitsandbytes, so that their inverse does not
   overflow float32; the codes crowd around zero. Ours use the whole codebook.
3. Midpoints: bitsandbytes compares with midpoints rounded to float32, we with the exact ones. A
   value that is exactly such a midpoint may get the other of two codes that are equally near.
4. A last block of fewer than 64 values is divided by its largest magnitude in bitsandbytes, where
   all others are multiplied by the inverse; so are all of ours.
5. Double quantization, offset: torch sums the mean in float32, we in float64; up to a few units in
   the last place apart. With torch's offset put in, everything after it is identical.
6. Double quantization, CPU: the kernel for CPUs looks the code up in a table of 65,536 steps of
   3e-5, so a value near a midpoint may get the farther code. Its kernel for every device, and ours,
   take the nearest. With that table put in, the codes are identical.
7. NaN: in bitsandbytes a NaN becomes the code of 1.0 and its scale NaN, so the block reads as NaN,
   as ours; an infinity leaves zeros under an infinite scale, NaN again, and itself infinite.
"""

import logging
import warnings

import numpy as np
import pytest
import torch

from core.dtypes import BLOCK_FORMATS
from core.dtypes.blocks.block_formats import store_scales
from core.dtypes.number_formats.codebook_format import DYNAMIC8
from tests.core.dtypes.blocks.test_block_codec import every_exponent, weights

pytestmark = pytest.mark.slow  # importing bitsandbytes takes seconds

NF4 = BLOCK_FORMATS["nf4"]
DOUBLE = BLOCK_FORMATS["nf4_double_quant"]


@pytest.fixture(scope="module")
def functional():
    """Import bitsandbytes, which warns about kernels for devices that are not here."""
    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import bitsandbytes.functional
    logging.disable(logging.NOTSET)
    return bitsandbytes.functional


def nf4(functional, x, *, double_quant=False):
    """Return the codes of bitsandbytes, in the shape of x, and its state."""
    packed, state = functional.quantize_4bit(
        torch.tensor(x), blocksize=64, quant_type="nf4", compress_statistics=double_quant
    )
    array = packed.numpy().reshape(-1)
    codes = np.stack([array >> 4, array & 15], axis=-1).reshape(-1)[: x.size]
    return codes.reshape(x.shape), state, packed


def nearest_kernel(absmax, offset, codebook):
    """Run the kernel that bitsandbytes has for every device, which the one for CPUs hides."""
    kernel = torch.ops.bitsandbytes.quantize_blockwise.default
    key = torch._C.DispatchKey.CompositeExplicitAutograd
    return kernel._op_dk(key, absmax - offset, codebook, 256)


def test_the_codebooks_of_bitsandbytes(functional):
    table = functional.get_4bit_type("nf4", device="cpu").numpy()
    np.testing.assert_array_equal(np.array(NF4.element.values, np.float32), table)
    dynamic = functional.create_dynamic_map().numpy()
    np.testing.assert_array_equal(np.array(DYNAMIC8.values, np.float32), dynamic)


def test_nf4_codes_and_scales_of_bitsandbytes(functional):
    for x in (weights(4096, 256), every_exponent(8192, 64), weights(4, 128, scale=0)):
        codes, state, _ = nf4(functional, x)
        ours = NF4.quantize(x)
        np.testing.assert_array_equal(ours.scales.reshape(-1), state.absmax.numpy())
        tiny = ours.per_value(ours.scales) < 1e-38  # difference 2
        np.testing.assert_array_equal(ours.codes[~tiny], codes[~tiny])


def test_nf4_values_that_bitsandbytes_reads_back(functional):
    x = weights(64, 256)
    _, state, packed = nf4(functional, x)
    theirs = functional.dequantize_4bit(packed, state).numpy()
    np.testing.assert_array_equal(NF4.round(x).astype(np.float32), theirs)


def test_difference_1_blocks_of_bitsandbytes_run_on_into_the_next_row(functional):
    x = weights(3, 96)
    codes, state, _ = nf4(functional, x)
    assert state.absmax.numel() == 5  # of 288 values
    assert NF4.quantize(x).scales.shape == (3, 2)
    np.testing.assert_array_equal(NF4.quantize(x.reshape(-1)).codes[:256], codes.reshape(-1)[:256])


def test_difference_2_below_1e_38_codes_of_bitsandbytes_crowd_around_zero(functional):
    x = weights(64, 64, scale=1e-40)
    codes, state, _ = nf4(functional, x)
    ours = NF4.quantize(x)
    np.testing.assert_array_equal(ours.scales.reshape(-1), state.absmax.numpy())
    assert set(np.unique(codes)) <= {6, 7, 8}
    assert set(np.unique(ours.codes)) == set(range(16))


def test_difference_3_on_a_rounded_midpoint_the_other_code_is_as_near(functional):
    table = np.array(NF4.element.values, np.float32)
    midpoints = (table[:-1] + table[1:]) / np.float32(2)
    around = [np.nextafter(midpoints, np.float32(end)) for end in (-2, 2)]
    x = np.ones((3, 64), np.float32)
    x[:, :15] = [around[0], midpoints, around[1]]
    codes, _, _ = nf4(functional, x)
    ours = NF4.quantize(x).codes
    np.testing.assert_array_equal(ours[[0, 2]], codes[[0, 2]])
    exact = (NF4.element.decode(np.arange(15)) + NF4.element.decode(np.arange(1, 16))) / 2
    rounded_up = np.zeros(64, bool)
    rounded_up[:15] = midpoints > exact
    np.testing.assert_array_equal(ours[1] != codes[1], rounded_up)


def test_difference_4_a_short_last_block_is_divided_by_bitsandbytes(functional):
    x = weights(1 << 14, 63).reshape(-1, 63)
    moved = 0
    for row in x[:150]:
        codes, state, _ = nf4(functional, row)
        ours = NF4.quantize(row)
        assert ours.scales.tolist() == state.absmax.tolist()
        moved += np.count_nonzero(ours.codes != codes)
    assert moved <= 2  # of 9,450 values: both roundings agree but beside a midpoint


def test_the_codes_of_values_do_not_change_with_double_quantization(functional):
    x = weights(512, 256)
    codes, _, _ = nf4(functional, x, double_quant=True)
    np.testing.assert_array_equal(DOUBLE.quantize(x).codes, codes)
    np.testing.assert_array_equal(DOUBLE.quantize(x).codes, NF4.quantize(x).codes)


def test_double_quantization_of_bitsandbytes_from_its_own_offset(functional):
    codebook = functional.create_dynamic_map()
    for x in (weights(4096, 64), weights(999, 64, scale=1.0), weights(40, 64)):
        _, plain, _ = nf4(functional, x)
        _, state, _ = nf4(functional, x, double_quant=True)
        absmax, offset = plain.absmax, state.offset
        ours = store_scales(absmax.numpy().astype(float), DYNAMIC8, 256, offset.item())
        codes, scales = nearest_kernel(absmax, offset, codebook)
        np.testing.assert_array_equal(ours.codes, codes.numpy())
        np.testing.assert_array_equal(ours.nested.scales, scales.numpy())
        np.testing.assert_array_equal(ours.nested.scales, state.state2.absmax.numpy())
        restored = functional.dequantize_blockwise(
            codes, absmax=scales, code=codebook, blocksize=256
        )
        np.testing.assert_array_equal(ours.values, (restored + offset).numpy())


def test_difference_5_the_mean_of_torch_is_a_few_units_in_the_last_place_away(functional):
    for seed in range(8):
        x = weights(4096, 64, seed=seed)
        _, state, _ = nf4(functional, x, double_quant=True)
        offset = DOUBLE.quantize(x).nested.offset
        assert abs(offset - state.offset.item()) <= 4 * np.spacing(np.float32(offset))
        exact = np.abs(x).max(axis=1).astype(float).mean()
        assert offset == np.float32(exact)


def test_difference_6_the_kernel_for_cpus_looks_codes_up_in_a_coarse_table(functional):
    x = weights(1 << 18, seed=7, scale=1.0)
    codes, state = functional.quantize_blockwise(torch.tensor(x), blocksize=256)
    blocks = x.reshape(-1, 256)
    scaled = blocks * (np.float32(1) / state.absmax.numpy())[:, None]
    nearest = DYNAMIC8.encode(scaled).reshape(-1)
    table = DYNAMIC8.encode(np.arange(1 << 16) / 32767.5 - 1)
    place = (scaled + np.float32(1)) * np.float32(32767.5) + np.float32(0.5)
    np.testing.assert_array_equal(table[place.astype(int)].reshape(-1), codes.numpy())
    assert 0 < np.count_nonzero(nearest.reshape(-1) != codes.numpy()) < 0.003 * x.size
    errors = [
        np.abs(DYNAMIC8.decode(chosen).reshape(-1) - scaled.reshape(-1))
        for chosen in (codes.numpy(), nearest)
    ]
    assert 0 <= (errors[0] - errors[1]).max() < 1 / 32767.5


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_difference_7_a_block_with_nan_or_infinity_is_lost_for_both(functional, wrong):
    x = weights(2, 64)
    x[0, 3] = wrong
    _, state, packed = nf4(functional, x)
    theirs, ours = functional.dequantize_4bit(packed, state).numpy(), NF4.round(x)
    assert not np.isfinite(theirs[0]).any()
    assert np.isnan(ours[0]).all()
    np.testing.assert_array_equal(ours[1].astype(np.float32), theirs[1])


def test_int8_rows_of_bitsandbytes_but_beside_a_tie(functional):
    # It multiplies by 127 / amax, we by 1 / (amax / 127): at a tie one may round the other way.
    x = np.random.default_rng(8).normal(size=(512, 1024)).astype(np.float16)
    codes, absmax, _ = functional.int8_vectorwise_quant(torch.tensor(x))
    block = BLOCK_FORMATS["int8_channel"]
    ours = block.quantize(x)
    largest = np.abs(x.astype(float)).max(axis=1, keepdims=True)
    np.testing.assert_array_equal(largest.reshape(-1), absmax.numpy())
    scaled = x.astype(float) / largest * 127
    moved = block.element.decode(ours.codes) != codes.numpy()
    assert np.count_nonzero(moved) < 0.0002 * x.size
    assert (np.abs(np.abs(scaled[moved]) % 1 - 0.5) < 1e-4).all()
