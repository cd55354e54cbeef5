"""Every row against tables typed by hand from the specifications, and against the libraries."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest
import torch

from core.dtypes import FORMATS, IntFormat, find_format


@dataclass(frozen=True)
class Spec:
    """One line of a specification: the numbers as printed, powers of two written as such."""

    bits: int
    layout: str
    bias: int
    max: float
    smallest_normal: float
    smallest_subnormal: float
    eps: float
    nans: int
    infinities: int
    zeros: int
    finite: int
    exact_integers_to: int


# float64 to bfloat16: IEEE 754-2019 table 3.5 and its rules; float8: OCP OFP8 v1.0 table 1; FNUZ:
# arXiv 2206.02915; float6, float4, E8M0: OCP MX v1.0. `bits` of TF32 are those it uses.
# fmt: off
SPECS = {
    "float64": Spec(64, "1/11/52", 1023, 1.7976931348623157e308, 2.2250738585072014e-308, 5e-324,
                    2.0**-52, 2**53 - 2, 2, 2, 2**64 - 2**53, 2**53),
    "float32": Spec(32, "1/8/23", 127, 3.4028234663852886e38, 1.1754943508222875e-38, 2.0**-149,
                    2.0**-23, 16777214, 2, 2, 4278190080, 16777216),
    "tf32": Spec(19, "1/8/10", 127, 3.4011621342146535e38, 1.1754943508222875e-38, 2.0**-136,
                 9.765625e-4, 2046, 2, 2, 522240, 2048),
    "float16": Spec(16, "1/5/10", 15, 65504, 6.103515625e-05, 5.960464477539063e-08,
                    9.765625e-4, 2046, 2, 2, 63488, 2048),
    "bfloat16": Spec(16, "1/8/7", 127, 3.3895313892515355e38, 1.1754943508222875e-38, 2.0**-133,
                     7.8125e-3, 254, 2, 2, 65280, 256),
    "float8_e4m3fn": Spec(8, "1/4/3", 7, 448, 2.0**-6, 2.0**-9, 0.125, 2, 0, 2, 254, 16),
    "float8_e5m2": Spec(8, "1/5/2", 15, 57344, 2.0**-14, 2.0**-16, 0.25, 6, 2, 2, 248, 8),
    "float8_e4m3": Spec(8, "1/4/3", 7, 240, 2.0**-6, 2.0**-9, 0.125, 14, 2, 2, 240, 16),
    "float8_e3m4": Spec(8, "1/3/4", 3, 15.5, 0.25, 2.0**-6, 0.0625, 30, 2, 2, 224, 15),
    "float8_e4m3fnuz": Spec(8, "1/4/3", 8, 240, 2.0**-7, 2.0**-10, 0.125, 1, 0, 1, 255, 16),
    "float8_e5m2fnuz": Spec(8, "1/5/2", 16, 57344, 2.0**-15, 2.0**-17, 0.25, 1, 0, 1, 255, 8),
    "float8_e4m3b11fnuz": Spec(8, "1/4/3", 11, 30, 2.0**-10, 2.0**-13, 0.125, 1, 0, 1, 255, 16),
    "float8_e8m0fnu": Spec(8, "0/8/0", 127, 2.0**127, 2.0**-127, 2.0**-127, 1, 1, 0, 0, 255, 2),
    "float6_e2m3fn": Spec(6, "1/2/3", 1, 7.5, 1, 0.125, 0.125, 0, 0, 2, 64, 7),
    "float6_e3m2fn": Spec(6, "1/3/2", 3, 28, 0.25, 0.0625, 0.25, 0, 0, 2, 64, 8),
    "float4_e2m1fn": Spec(4, "1/2/1", 1, 6, 1, 0.5, 0.5, 0, 0, 2, 16, 4),
}
# fmt: on
TORCH_EPS = {"float8_e5m2fnuz": 0.125}  # wrong in torch: 1.0 is followed by 1.25
INTEGERS = {
    "int8": (-128, 127),
    "int4": (-8, 7),
    "int2": (-2, 1),
    "uint8": (0, 255),
    "uint4": (0, 15),
    "uint2": (0, 3),
}
# DESIGN's public names: others rely on them.
CONTRACT = {*SPECS, *INTEGERS, "nf4"}


def test_every_promised_format_has_a_row_and_every_row_a_source():
    assert set(FORMATS) >= CONTRACT
    assert all(len(row.source) > 10 for row in FORMATS.values())


@pytest.mark.parametrize("name", SPECS)
def test_a_float_is_as_its_specification_prints_it(name):
    fmt, spec = FORMATS[name], SPECS[name]
    layout = f"{int(fmt.signed)}/{fmt.exponent_bits}/{fmt.mantissa_bits}"
    assert (fmt.bits, layout, fmt.bias) == (spec.bits, spec.layout, spec.bias)
    for quantity in ("max", "smallest_normal", "smallest_subnormal", "eps"):
        assert getattr(fmt, quantity) == getattr(spec, quantity), quantity
    assert fmt.min == (-spec.max if fmt.signed else spec.smallest_subnormal)


@pytest.mark.parametrize("name", SPECS)
def test_the_codes_of_a_float_are_counted_as_its_specification_has_them(name):
    counts, spec = FORMATS[name].counts(), SPECS[name]
    for kind in ("nans", "infinities", "zeros", "finite"):
        assert getattr(counts, kind) == getattr(spec, kind), kind
    assert counts.finite + counts.infinities + counts.nans == 2**spec.bits


@pytest.mark.parametrize("name", [name for name, fmt in FORMATS.items() if fmt.bits <= 16])
def test_the_counts_are_those_of_the_codes_themselves(name):
    fmt, counts = FORMATS[name], FORMATS[name].counts()
    values = fmt.decode(np.arange(fmt.num_codes))
    assert np.isnan(values).sum() == counts.nans
    assert np.isinf(values).sum() == counts.infinities
    assert (values == 0).sum() == counts.zeros
    finite = np.abs(values[np.isfinite(values)])
    subnormal = (finite > 0) & (finite < fmt.smallest_normal)
    assert subnormal.sum() == counts.subnormals


@pytest.mark.parametrize("name", SPECS)
def test_integers_are_exact_up_to_the_printed_one_and_the_next_is_not(name):
    fmt, last = FORMATS[name], SPECS[name].exact_integers_to
    known = np.arange(1.0, min(last, 2**16) + 1)
    assert np.array_equal(fmt.round(known), known)
    assert fmt.round([float(last)]) == last
    beyond = last + 1 if last < 2**53 else np.nan  # float64 itself ends here
    assert fmt.round([beyond])[0] != beyond


@pytest.mark.parametrize(
    "name", [name for name in SPECS if isinstance(getattr(torch, name, None), torch.dtype)]
)
def test_torch_agrees_except_where_its_table_is_wrong(name):
    fmt, info = FORMATS[name], torch.finfo(getattr(torch, name))
    assert (fmt.bits, fmt.max, fmt.min) == (info.bits, info.max, info.min)
    assert fmt.smallest_normal == info.tiny
    assert info.eps == TORCH_EPS.get(name, fmt.eps), "torch corrected its table: say so"
    assert fmt.decode(fmt.encode([1.0]) + 1)[0] - 1.0 == fmt.eps


@pytest.mark.parametrize("name", INTEGERS)
def test_an_integer_has_the_range_of_its_width(name):
    fmt = FORMATS[name]
    assert isinstance(fmt, IntFormat)
    info = np.iinfo(name) if fmt.bits == 8 else ml_dtypes.iinfo(getattr(ml_dtypes, name))
    assert (fmt.min, fmt.max) == INTEGERS[name] == (info.min, info.max)
    assert fmt.bits == info.bits


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="'float7' is not known; use one of: float64, float32"):
        find_format("float7")
    assert find_format("float16") is FORMATS["float16"]
