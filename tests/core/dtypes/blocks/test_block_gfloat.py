"""MX formats beside gfloat 0.5.2, which has MXINT8; its scale rule is floor.

Where we differ, and why: gfloat uses the code of -2 of the MXINT8 element, which has no mirror
image; we stop at -127/64, as the authors' microxcaling does (mx/elemwise_ops.py).
"""

import gfloat
import gfloat.formats
import numpy as np
import pytest

from core.dtypes import BLOCK_FORMATS

NAMES = {
    "mxfp8_e4m3": gfloat.formats.format_info_mxfp8_e4m3,
    "mxfp8_e5m2": gfloat.formats.format_info_mxfp8_e5m2,
    "mxfp6_e2m3": gfloat.formats.format_info_mxfp6_e2m3,
    "mxfp6_e3m2": gfloat.formats.format_info_mxfp6_e3m2,
    "mxfp4": gfloat.formats.format_info_mxfp4_e2m1,
    "mxint8": gfloat.formats.format_info_mxint8,
}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_mx_values_of_gfloat(name):
    info, block = NAMES[name], BLOCK_FORMATS[name]
    assert info.block_size_bytes * 8 == block.storage_bits(info.k)
    rng = np.random.default_rng(0)
    x = np.ldexp(rng.normal(size=(24, 32)), rng.integers(-60, 60, (24, 1))).astype(np.float32)
    quantized = block.quantize(x, "floor")
    for row, ours, scale in zip(
        x.astype(float), block.dequantize(quantized), quantized.scales[:, 0], strict=True
    ):
        theirs = gfloat.quantize_block(info, row, gfloat.block.compute_scale_amax)
        if name == "mxint8":
            theirs = np.maximum(theirs, -127 / 64 * scale)
        np.testing.assert_array_equal(ours, theirs)


def test_the_code_that_we_leave_unused():
    x = np.zeros(32)
    x[:2] = [-1.999, 1.999]
    info = NAMES["mxint8"]
    theirs = gfloat.quantize_block(info, x, gfloat.block.compute_scale_amax)
    assert theirs[:2].tolist() == [-2.0, 1.984375]
    assert BLOCK_FORMATS["mxint8"].round(x)[:2].tolist() == [-1.984375, 1.984375]
