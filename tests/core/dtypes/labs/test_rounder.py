"""The fast path gives what the codec gives, on every kind of number."""

import math

import numpy as np
import pytest

from core.dtypes import FORMATS, ROUNDINGS, float_format
from core.dtypes.labs.rounder import scalar_rounder

FLUSHING = float_format("flushing", 4, 3, subnormals=False)
SOME = [
    *(FORMATS[name] for name in ("float64", "float32", "float16", "bfloat16", "float8_e4m3fn")),
    *(FORMATS[name] for name in ("float8_e5m2fnuz", "float4_e2m1fn", "float8_e8m0fnu", "int8")),
    FLUSHING,
]
each_format = pytest.mark.parametrize("fmt", SOME, ids=lambda fmt: fmt.name)


def hard_values(fmt):
    """Return numbers of every magnitude, the format's own borders and middles, and specials."""
    rng = np.random.default_rng(0)
    wide = rng.normal(size=400) * 2.0 ** rng.integers(-60, 60, 400)
    own = [fmt.max, fmt.smallest_normal, fmt.smallest_subnormal, 1.0, 1.0 + fmt.eps, 0.0]
    middles = [1 + fmt.eps / 2, 1 + 1.5 * fmt.eps, fmt.smallest_subnormal / 2]
    near = [*own, *middles, *(x * (1 - 2**-30) for x in own), *(x * (1 + 2**-30) for x in own)]
    beyond = [math.inf, math.nan, 1e300, 2.0 * min(fmt.max, 1e300)]
    return np.array([*wide, *near, *beyond, *(-x for x in (*near, *beyond))])


@each_format
@pytest.mark.parametrize("rounding", [name for name in ROUNDINGS if name != "stochastic"])
def test_one_number_is_rounded_as_the_codec_rounds_it(fmt, rounding):
    values = hard_values(fmt)
    round_one = scalar_rounder(fmt, rounding)
    one_by_one = [round_one(value) for value in values.tolist()]
    np.testing.assert_array_equal(one_by_one, fmt.round(values, rounding))


def test_stochastic_rounding_goes_to_both_neighbours_and_keeps_what_needs_no_rounding():
    round_one = scalar_rounder(FORMATS["bfloat16"], "stochastic", np.random.default_rng(0))
    for sign in (1.0, -1.0):
        results = [round_one(sign * (1 + 2**-9)) for _draw in range(4000)]
        assert {abs(result) for result in results} == {1.0, 1 + 2**-7}
        assert np.mean(results) == pytest.approx(sign * (1 + 2**-9), abs=5 * 2**-7 / 4000**0.5)
    assert round_one(1.5) == 1.5


def test_chance_without_a_source_of_it_is_refused():
    with pytest.raises(ValueError, match="stochastic"):
        scalar_rounder(FORMATS["bfloat16"], "stochastic")
    with pytest.raises(ValueError, match="rounding 'sideways' is not known"):
        scalar_rounder(FORMATS["bfloat16"], "sideways")
