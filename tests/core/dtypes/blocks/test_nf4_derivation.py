"""The derivation of NF4 against the table that bitsandbytes prints, and against its own claims."""

import math

import numpy as np
import pytest

from core.dtypes.blocks.nf4_derivation import (
    nf4_steps,
    normal_density,
)

# bitsandbytes 0.50.2, functional.py, the table of NF4
PRINTED = [
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
    *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
    *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
    *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
]


def test_each_value_is_its_quantile_divided_by_the_largest_one():
    steps = nf4_steps()
    largest = steps[-1].quantile

    assert [step.code for step in steps] == list(range(16))
    assert [step.value for step in steps] == pytest.approx(PRINTED, abs=2e-7)
    assert [step.quantile / largest for step in steps] == pytest.approx(PRINTED, abs=2e-7)


def test_the_shares_are_evenly_spaced_on_each_side_of_one_half():
    shares = np.array([step.share for step in nf4_steps()])

    assert np.ptp(np.diff(shares[:8])) < 1e-6
    assert np.ptp(np.diff(shares[7:])) < 1e-6
    assert shares[7] == 0.5


def test_the_share_is_what_lies_below_the_quantile():
    for step in nf4_steps():
        below = (1 + math.erf(step.quantile / math.sqrt(2))) / 2
        assert below == pytest.approx(step.share, abs=1e-6), step.code


def test_the_density_holds_93_5_percent_between_the_outermost_codes():
    places = np.linspace(-1, 1, 2001)

    inside = np.trapezoid(normal_density(places), places)

    assert inside == pytest.approx(2 * 0.9677083 - 1, abs=1e-6)
