"""The exhaustive proof: every code, and by classes every float32, against everybody who knows."""

import numpy as np
import pytest

from core.dtypes import FORMATS, IntFormat
from tests.core.dtypes.libraries.oracles import SPECIFICATION, Oracle, oracles_of
from tests.core.dtypes.libraries.proof import (
    inputs_for,
    prove,
    prove_back,
    prove_controls,
    prove_format,
)
from tests.core.dtypes.number_formats.test_table import CONTRACT


@pytest.fixture(scope="module")
def rows():
    return tuple(prove(FORMATS.values()))


@pytest.mark.slow
def test_no_format_up_to_19_bits_differs_from_anybody(rows):
    assert [row for row in rows if row.num_mismatches] == []


@pytest.mark.slow
def test_every_format_up_to_19_bits_is_decoded_encoded_and_brought_back(rows):
    small = {name for name, fmt in FORMATS.items() if fmt.bits <= 19}
    assert {row.format for row in rows if row.direction == "back"} == small
    # A format that nobody else has is compared with exact arithmetic, in test_explain_cast.py.
    for direction in ("decode", "encode"):
        lacking = CONTRACT & small - {row.format for row in rows if row.direction == direction}
        assert lacking <= {"nf4"}, "its midpoints are tested in test_codebook_format.py"


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


@pytest.mark.slow
def test_a_wrong_bias_nan_count_or_flush_is_caught_by_every_oracle():
    controls = tuple(prove_controls())
    assert len(controls) == 12
    assert all(row.num_mismatches > 0 and row.first_mismatch for row in controls)


@pytest.mark.slow
def test_wrong_rounding_is_caught():
    class Truncating(type(FORMATS["bfloat16"])):
        def _encode(self, values, _rounding, overflow, rng):
            return super()._encode(values, "toward_zero", overflow, rng)

    right = FORMATS["bfloat16"]
    names = ("name", "source", "exponent_bits", "mantissa_bits", "bias")
    wrong = Truncating(**{name: getattr(right, name) for name in names})
    found = [row for row in prove_format(wrong, oracles_of(right)) if row.direction == "encode"]
    assert [row.num_mismatches > 100_000 for row in found] == [True, True]


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float6_e3m2fn", "int4", "float8_e5m2fnuz"])
def test_a_class_is_rounded_as_one(name):
    """The heart of the proof: whatever follows the guard bit, only whether it is zero counts."""
    fmt, rng = FORMATS[name], np.random.default_rng(0)
    width = fmt.bits if isinstance(fmt, IntFormat) else fmt.mantissa_bits
    num_rest = 22 - width
    kept = rng.integers(0, 2 ** (10 + width), 20_000, np.uint32) << np.uint32(num_rest)
    rest = rng.integers(1, 2**num_rest, 20_000, np.uint32)
    with np.errstate(invalid="ignore"):
        codes = [fmt.encode((kept | part).view(np.float32)) for part in (rest, np.uint32(1))]
    assert np.array_equal(*codes)


@pytest.mark.slow
def test_e8m0_is_tried_on_every_subnormal_float32():
    inputs = np.abs(inputs_for(FORMATS["float8_e8m0fnu"]))
    subnormal = inputs[(inputs > 0) & (inputs < 2.0**-126)]
    assert np.unique(subnormal).size == 2**23 - 1


def test_a_difference_is_counted_and_the_first_one_shown():
    fmt = FORMATS["float4_e2m1fn"]
    shifted = Oracle(
        name="somebody", decode=lambda codes: np.where(codes == 5, 4.0, fmt.decode(codes))
    )
    row = next(prove_format(fmt, [shifted]))
    assert (row.num_mismatches, row.first_mismatch) == (1, "5 -> 3.0, not 4.0")
    assert prove_back(fmt).num_mismatches == 0
