"""Rounding of single numbers: the six modes on halves, and who may be asked for what."""

import numpy as np
import pytest

from core.dtypes.rounding import ROUNDINGS, check_policy, round_magnitudes, stops_at_the_largest

# x: what each mode makes of it; IEEE 754-2019 section 4.3, typed by hand
HALVES = {
    "nearest_even": {0.5: 0, 1.5: 2, 2.5: 2, -0.5: 0, -1.5: -2, 0.49999999999999994: 0, 0.75: 1},
    "nearest_away": {0.5: 1, 1.5: 2, 2.5: 3, -0.5: -1, -1.5: -2, 0.49999999999999994: 0, 0.75: 1},
    "toward_zero": {0.5: 0, 1.5: 1, 2.5: 2, -0.5: 0, -1.5: -1, 0.49999999999999994: 0, 0.75: 0},
    "up": {0.5: 1, 1.5: 2, 2.5: 3, -0.5: 0, -1.5: -1, 0.49999999999999994: 1, 0.75: 1},
    "down": {0.5: 0, 1.5: 1, 2.5: 2, -0.5: -1, -1.5: -2, 0.49999999999999994: 0, 0.75: 0},
}


@pytest.mark.parametrize("mode", HALVES)
def test_a_mode_rounds_halves_as_the_standard_says(mode):
    values = np.array(list(HALVES[mode]))
    whole = round_magnitudes(np.abs(values), np.signbit(values), mode)
    assert np.copysign(whole, values).tolist() == list(HALVES[mode].values())


@pytest.mark.parametrize("mode", ROUNDINGS)
def test_whole_numbers_stay_whatever_the_mode(mode):
    values = np.array([-3.0, -1.0, 7.0, 2.0**52 + 1, *range(1000)])
    rng = np.random.default_rng(0)
    whole = round_magnitudes(np.abs(values), np.signbit(values), mode, rng)
    assert np.array_equal(np.copysign(whole, values), values)


@pytest.mark.parametrize(
    ("rounding", "overflow", "message"),
    [
        ("nearest", "default", "rounding 'nearest' is not known; use one of: nearest_even"),
        ("up", "wrap", "overflow 'wrap' is not known; use one of: default, saturate"),
    ],
)
def test_an_unknown_policy_is_refused(rounding, overflow, message):
    with pytest.raises(ValueError, match=message):
        check_policy(rounding, overflow)


def test_a_directed_rounding_carries_an_overflow_only_in_its_own_direction():
    negative = np.array([False, True])
    assert stops_at_the_largest("toward_zero", negative).tolist() == [True, True]
    assert stops_at_the_largest("up", negative).tolist() == [False, True]
    assert stops_at_the_largest("down", negative).tolist() == [True, False]
    for rounding in ("nearest_even", "nearest_away", "stochastic"):
        assert stops_at_the_largest(rounding, negative).tolist() == [False, False]
