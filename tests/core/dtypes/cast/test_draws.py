"""Stochastic rounding drawn many times: counts, chances and the mean."""

import math
from fractions import Fraction

import numpy as np
import pytest

from core.dtypes import FORMATS
from core.dtypes.cast.draws import MAX_DRAWS, draw_roundings, first_chance
from core.dtypes.cast.explain_cast import explain_cast


def test_the_mean_of_many_draws_is_the_number_itself():
    fmt, value = FORMATS["float8_e4m3fn"], Fraction(3, 10)
    draws = draw_roundings(fmt, value, MAX_DRAWS, seed=0)
    step = abs(draws.away - draws.near)
    spread = step * math.sqrt(float(draws.chance * (1 - draws.chance)) / MAX_DRAWS)
    assert abs(draws.mean - 0.3) < 5 * spread
    assert draws.num_near + draws.num_away == MAX_DRAWS
    assert draws.sizes[0] == 1
    assert draws.sizes[-1] == MAX_DRAWS


@pytest.mark.parametrize("value", ["0.3", "-0.3", "65519.99", "2^-26", "1/3"])
def test_the_draws_are_those_of_the_codec(value):
    fmt = FORMATS["float16"]
    exact = explain_cast(fmt, value).value
    draws = draw_roundings(fmt, exact, 2000, seed=7)
    codec = fmt.round(np.full(2000, float(exact)), "stochastic", rng=np.random.default_rng(7))
    assert draws.num_away == int((codec == draws.away).sum()) > 0
    assert draws.num_near == int((codec == draws.near).sum()) > 0


def test_the_first_draw_is_the_one_the_page_shows():
    fmt = FORMATS["float8_e4m3fn"]
    for seed in range(20):
        draws = draw_roundings(fmt, Fraction(3, 10), 1, seed)
        shown = explain_cast(fmt, Fraction(3, 10), "stochastic", chance=first_chance(seed))
        assert draws.mean == shown.result, seed


def test_a_mean_with_an_infinity_in_it_is_infinite_and_without_it_is_not():
    draws = draw_roundings(FORMATS["float16"], Fraction("65519.99"), 200, seed=3)
    assert math.isinf(draws.mean)
    assert any(math.isfinite(mean) for mean in draws.means) == (draws.means[0] == 65504)
    far = draw_roundings(FORMATS["float16"], Fraction(10**6), 10, seed=3)
    assert math.isinf(far.mean)
    nothing = draw_roundings(FORMATS["float16"], math.nan, 10, seed=3)
    assert math.isnan(nothing.mean)


def test_an_exact_number_is_never_moved_and_a_codebook_draws_between_its_neighbours():
    draws = draw_roundings(FORMATS["float16"], Fraction(3, 2), 100, seed=1)
    assert (draws.chance, draws.num_away, draws.mean) == (0, 0, 1.5)
    draws = draw_roundings(FORMATS["nf4"], Fraction(3, 10), 5000, seed=0)
    assert draws.near < 0.3 < draws.away
    assert draws.mean == pytest.approx(0.3, abs=0.005)


@pytest.mark.parametrize("num_draws", [0, MAX_DRAWS + 1])
def test_a_count_out_of_range_is_refused(num_draws):
    with pytest.raises(ValueError, match=f"{num_draws} draws are out of range: use 1 to 100000"):
        draw_roundings(FORMATS["float16"], 1.0, num_draws, 0)
