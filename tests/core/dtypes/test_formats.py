import ml_dtypes
import numpy as np
import pytest
import torch

from core.dtypes import FORMATS

# DESIGN's public names: others rely on them.
CONTRACT = {
    *("float64", "float32", "tf32", "float16", "bfloat16", "nf4"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e3m4", "float8_e4m3fnuz"),
    *("float8_e5m2fnuz", "float8_e4m3b11fnuz", "float8_e8m0fnu"),
    *("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"),
    *("int8", "uint8", "int4", "uint4", "int2", "uint2"),
}


def test_every_promised_format_has_a_row():
    assert set(FORMATS) >= CONTRACT


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_bits_are_those_of_torch_and_ml_dtypes(name):
    bits = FORMATS[name].bits
    if isinstance(dtype := getattr(torch, name, None), torch.dtype) and bits >= 8:
        assert bits == 8 * dtype.itemsize
    if hasattr(ml_dtypes, name) and name.startswith(("float", "bfloat")):
        assert bits == ml_dtypes.finfo(getattr(ml_dtypes, name)).bits
    if hasattr(ml_dtypes, name) and name.startswith(("int", "uint")):
        assert bits == ml_dtypes.iinfo(getattr(ml_dtypes, name)).bits
    if name in {"float64", "float32", "float16", "int8", "uint8"}:
        assert bits == 8 * np.dtype(name).itemsize


@pytest.mark.parametrize(
    ("name", "bits_per_value"),
    [("mxfp4", 4.25), ("mxfp6_e2m3", 6.25), ("mxfp8_e4m3", 8.25), ("nvfp4", 4.5), ("nf4", 4.5)],
)
def test_a_value_pays_its_share_of_the_scale(name, bits_per_value):
    assert FORMATS[name].bits_per_value == bits_per_value


def test_every_row_says_where_it_comes_from():
    assert all(len(row.source) > 10 for row in FORMATS.values())
