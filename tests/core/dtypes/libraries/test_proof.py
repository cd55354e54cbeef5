"""The exhaustive proof: every code, and by classes every float32, against everybody who knows.

Rounding a float32 to a format with m mantissa bits depends on its sign, its exponent, its first
m + 1 mantissa bits, and on whether anything follows. Three numbers of each class (nothing follows,
the least, the most) therefore stand for all 2**32: 3 * 2**(10 + m) of them.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from core.dtypes import FORMATS, IntFormat
from tests.core.dtypes.libraries.oracles import SPECIFICATION, Oracle, oracles_of
from tests.core.dtypes.number_formats.test_table import CONTRACT

SMALL = {name: fmt for name, fmt in FORMATS.items() if fmt.bits <= 19}  # the largest is TF32


class Row(NamedTuple):
    """What one comparison found; `num_known` inputs were known to be wrong, and were."""

    format: str
    oracle: str
    direction: str
    num_mismatches: int
    first_mismatch: str
    num_known: int = 0


def kept_bits(fmt):
    """An integer of w bits keeps at most w of them; one more is the guard bit."""
    return fmt.bits if isinstance(fmt, IntFormat) else fmt.mantissa_bits


def class_inputs(mantissa_bits):
    """Three float32 numbers of each class: the rest is 0, the least, and the most."""
    num_rest = 22 - mantissa_bits
    kept = np.arange(1 << (10 + mantissa_bits), dtype=np.uint32) << np.uint32(num_rest)
    rests = np.array([0, 1, (1 << num_rest) - 1], dtype=np.uint32)
    return (kept[:, None] | rests).reshape(-1).view(np.float32)


def inputs_for(fmt):
    """float32 numbers that stand for all 2**32 when rounded to this format.

    E8M0 reaches one binade below the smallest normal float32: there the classes shift, and all
    subnormals are tried instead.
    """
    if fmt.name == "float8_e8m0fnu":
        subnormals = np.arange(1 << 23, dtype=np.uint32).view(np.float32)
        return np.concatenate([class_inputs(0), subnormals, -subnormals])
    return class_inputs(kept_bits(fmt))


def compare(fmt, oracles):
    """Compare decoding of all codes and encoding of all float32 classes with each oracle."""
    codes = np.arange(fmt.num_codes, dtype=fmt.code_dtype)
    ours = fmt.decode(codes)
    for oracle in oracles:
        theirs = ours if oracle.decode is None else oracle.decode(codes)
        if oracle.decode is not None:
            same = (ours == theirs) & (np.signbit(ours) == np.signbit(theirs))
            differs = ~(same | np.isnan(ours) & np.isnan(theirs))
            yield Row(fmt.name, oracle.name, "decode", *first(codes, ours, theirs, differs))
        if oracle.encode is not None:
            yield encoded(fmt, oracle, np.isnan(ours), np.isnan(theirs))


def encoded(fmt, oracle, our_nan, their_nan):
    """Compare codes, but of NaNs only that they are: torch writes other ones in long arrays."""
    inputs = inputs_for(fmt)
    with np.errstate(invalid="ignore"):  # signalling NaNs are among all float32 numbers
        ours, theirs = fmt.encode(inputs, overflow=oracle.overflow), oracle.encode(inputs)
    is_nan, is_theirs = our_nan[ours], their_nan[theirs]
    differs = np.where(is_nan | is_theirs, is_nan != is_theirs, ours != theirs)
    wrong = differs.copy()
    for where in oracle.known:
        wrong &= ~where(inputs)
    found = first(inputs, ours, theirs, wrong)
    return Row(fmt.name, oracle.name, "encode", *found, int((differs & ~wrong).sum()))


def first(inputs, ours, theirs, differs):
    if not differs.any():
        return 0, ""
    place = int(np.argmax(differs))
    return int(differs.sum()), f"{inputs[place]!s} -> {ours[place]!s}, not {theirs[place]!s}"


@pytest.fixture(scope="module")
def rows():
    return [row for fmt in SMALL.values() for row in compare(fmt, oracles_of(fmt))]


@pytest.mark.slow
def test_no_format_up_to_19_bits_differs_from_anybody(rows):
    assert [row for row in rows if row.num_mismatches] == []
    # A format that nobody else has is compared with exact arithmetic, in test_explain_cast.py.
    for direction in ("decode", "encode"):
        lacking = CONTRACT & set(SMALL) - {r.format for r in rows if r.direction == direction}
        assert lacking <= {"nf4"}, "its midpoints are tested in test_codebook_format.py"


@pytest.mark.parametrize("name", SMALL)
def test_what_every_code_means_is_encoded_as_that_code(name):
    fmt = SMALL[name]
    codes = np.arange(fmt.num_codes, dtype=fmt.code_dtype)
    values = fmt.decode(codes)
    back = fmt.encode(values)  # NaN codes may change among them
    assert ((back == codes) | (np.isnan(values) & np.isnan(fmt.decode(back)))).all()


@pytest.mark.slow
def test_torch_and_ml_dtypes_and_a_hand_were_asked(rows):
    asked = {row.oracle.partition(" ")[0] for row in rows}
    assert asked >= {"torch", "ml_dtypes", "numpy", SPECIFICATION.partition(" ")[0]}
    by_torch = {row.format for row in rows if row.oracle.startswith("torch")}
    assert by_torch >= {"float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz"}


@pytest.mark.slow
def test_where_a_library_is_wrong_the_specification_was_asked_about_every_input(rows):
    for row in (row for row in rows if row.num_known and "fnu" in row.format):
        hand = [r for r in rows if (r.format, r.oracle) == (row.format, SPECIFICATION)]
        assert {r.direction for r in hand} == {"decode", "encode"}
    e8m0 = [row for row in rows if row.format == "float8_e8m0fnu" and "ml_d" in row.oracle]
    # 2**21 - 1 float32 lie between 2^-127 and 1.5 * 2^-127; the other few are zeros.
    assert 2**21 - 1 <= max(row.num_known for row in e8m0) < 2**21 + 10
    inputs = np.abs(inputs_for(FORMATS["float8_e8m0fnu"]))
    assert np.unique(inputs[(inputs > 0) & (inputs < 2.0**-126)]).size == 2**23 - 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("float8_e4m3fn", {"bias": 8}),
        ("float8_e4m3fn", {"num_nans": 2}),
        ("bfloat16", {"subnormals": False}),
    ],
)
def test_a_wrong_bias_nan_count_or_flush_is_caught_by_every_oracle(name, wrong):
    """A proof that cannot fail proves nothing."""
    found = list(compare(replace(FORMATS[name], **wrong), oracles_of(FORMATS[name])))
    assert len(found) == 4
    assert all(row.num_mismatches > 0 and row.first_mismatch for row in found)


@pytest.mark.slow
def test_wrong_rounding_is_caught():
    class Truncating(type(FORMATS["bfloat16"])):
        def _encode(self, values, _rounding, overflow, rng):
            return super()._encode(values, "toward_zero", overflow, rng)

    right = FORMATS["bfloat16"]
    names = ("name", "source", "exponent_bits", "mantissa_bits", "bias")
    wrong = Truncating(**{name: getattr(right, name) for name in names})
    found = [row for row in compare(wrong, oracles_of(right)) if row.direction == "encode"]
    assert [row.num_mismatches > 100_000 for row in found] == [True, True]


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float6_e3m2fn", "int4", "float8_e5m2fnuz"])
def test_a_class_is_rounded_as_one(name):
    """The heart of the proof: whatever follows the guard bit, only whether it is zero counts."""
    fmt, rng = FORMATS[name], np.random.default_rng(0)
    num_rest = 22 - kept_bits(fmt)
    kept = rng.integers(0, 2 ** (32 - num_rest), 20_000, np.uint32) << np.uint32(num_rest)
    rest = rng.integers(1, 2**num_rest, 20_000, np.uint32)
    with np.errstate(invalid="ignore"):
        codes = [fmt.encode((kept | part).view(np.float32)) for part in (rest, np.uint32(1))]
    assert np.array_equal(*codes)


def test_a_difference_is_counted_and_the_first_one_shown():
    fmt = FORMATS["float4_e2m1fn"]
    shifted = Oracle("somebody", decode=lambda codes: np.where(codes == 5, 4, fmt.decode(codes)))
    [row] = compare(fmt, [shifted])
    assert (row.num_mismatches, row.first_mismatch) == (1, "5 -> 3.0, not 4.0")
