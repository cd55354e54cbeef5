"""Where numbers lie: every stretch against the decoded codes, the ends against measured casts."""

import struct

import ml_dtypes
import numpy as np
import pytest

from core.dtypes import FORMATS
from core.dtypes.facts.number_line import (
    MAX_STRETCHES,
    MAX_TICKS,
    finite_values,
    marks_between,
    ranges,
    some_stretches,
    stretches,
)

SMALL = [fmt for fmt in FORMATS.values() if fmt.bits <= 16]
small = pytest.mark.parametrize("fmt", SMALL, ids=lambda fmt: fmt.name)


@small
def test_stretches_walk_through_every_positive_number_of_a_format(fmt):
    walked = {fmt.max}
    for each in stretches(fmt):
        walked |= {each.low + number * each.gap for number in range(round(each.num_gaps))}
    positive = finite_values(fmt)
    assert walked == set(positive[positive > 0].tolist())


@pytest.mark.parametrize("name", ["float32", "tf32", "float64"])
def test_a_wide_format_is_one_stretch_a_binade_and_one_for_the_subnormals(name):
    fmt, found = FORMATS[name], stretches(FORMATS[name])
    assert found[0].low == fmt.smallest_subnormal
    assert found[-1].high == fmt.max
    assert len(found) == 1 + fmt.max_exponent - fmt.min_exponent + 1
    around_one = next(each for each in found if each.low == 1.0)
    assert around_one.gap == fmt.eps


def test_the_ranges_are_those_of_the_measured_casts():
    assert ranges(FORMATS["float16"]).overflow == 65520.0
    assert ranges(FORMATS["float16"]).zero == 2.0**-25
    assert ranges(FORMATS["float16"]).subnormal == 2.0**-14
    assert ranges(FORMATS["float8_e4m3fn"]).overflow == 464.0
    assert ranges(FORMATS["float8_e5m2"]).overflow == 61440.0
    assert ranges(FORMATS["float8_e8m0fnu"]).zero == 0.0
    assert ranges(FORMATS["int8"]).overflow == 127.5
    assert ranges(FORMATS["nf4"]).overflow == 1.0


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e5m2", "float8_e4m3"])
def test_the_last_number_that_does_not_overflow_lies_just_below_the_edge(name):
    dtype = np.float16 if name == "float16" else getattr(ml_dtypes, name)
    edge = ranges(FORMATS[name]).overflow
    below = np.nextafter(np.float32(edge), np.float32(0))
    with np.errstate(over="ignore"):
        assert float(np.asarray(below).astype(dtype)) == FORMATS[name].max
        assert np.isinf(np.asarray(edge, np.float32).astype(dtype).astype(np.float32))


def test_some_stretches_are_few_and_keep_both_ends():
    for name, fmt in FORMATS.items():
        some, every = some_stretches(fmt), stretches(fmt)
        assert len(some) <= MAX_STRETCHES, name
        assert set(some) <= set(every), name
        assert (some[0], some[-1]) == (every[0], every[-1]), name
        assert some == every or len(every) > MAX_STRETCHES, name


def _decoded_elsewhere(name):
    """Return every finite number of a format, ascending, as struct or ml_dtypes decodes its codes.

    Each with its code, the sign left out: value -> code.
    """
    bits = FORMATS[name].bits
    codes = range(1 << bits)
    if name == "float16":
        values = struct.unpack(f"<{len(codes)}e", struct.pack(f"<{len(codes)}H", *codes))
    elif name == "bfloat16":
        wide = [code << 16 for code in codes]
        values = struct.unpack(f"<{len(codes)}f", struct.pack(f"<{len(codes)}I", *wide))
    else:
        values = np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, name)).astype(float)
    mask = (1 << bits - 1) - 1
    pairs = zip(codes, map(float, values), strict=True)
    found = {value: code & mask for code, value in pairs if np.isfinite(value)}
    return dict(sorted(found.items()))


_WINDOWS = {
    "around one": (0.9375, 1.0625),
    "zero": (-(2.0**-20), 2.0**-20),
    "subnormals": (2.0**-25, 2.0**-13),
    "negative": (-3.3, -1.1),
    "the end of float16": (65376.0, 65632.0),
    "the end of float8_e4m3fn": (380.0, 500.0),
    "the end of bfloat16": (2.0**127, float("inf")),
    "between two numbers": (1.00001, 1.00002),
    "beyond all": (1e39, 2e39),
    "all": (float("-inf"), float("inf")),
}


@pytest.mark.parametrize(
    "name", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz"]
)
def test_marks_are_the_numbers_in_a_window_or_evenly_some_of_them(name):
    known = _decoded_elsewhere(name)
    for said, (low, high) in _WINDOWS.items():
        inside = [value for value in known if low <= value <= high]
        marks = marks_between(FORMATS[name], low, high)
        assert marks.num_numbers == len(inside), said
        assert (marks.every == 1) == (len(inside) <= MAX_TICKS), said
        assert len(marks.values) <= MAX_TICKS, said
        assert list(marks.values) == [v for v in inside if known[v] % marks.every == 0], said


def test_too_many_marks_become_round_numbers_and_at_last_powers_of_two():
    assert marks_between(FORMATS["float16"], 1, 2, most=20).values == (1.0, 1.25, 1.5, 1.75, 2.0)
    powers = marks_between(FORMATS["bfloat16"], 1, 2.0**100)
    assert powers.every == 128
    assert powers.values == tuple(2.0**n for n in range(101))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_marks_in_every_window(name):
    for said, (low, high) in _WINDOWS.items():
        values = marks_between(FORMATS[name], low, high).values
        assert len(values) <= MAX_TICKS, said
        assert list(values) == sorted(set(values)), said
        assert all(low <= value <= high for value in values), said
