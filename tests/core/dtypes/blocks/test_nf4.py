"""NF4: its derivation against the table that bitsandbytes prints, and how often a code is used."""

import math

import numpy as np
import pytest

from core.dtypes.blocks.nf4 import (
    block_histogram,
    make_code_use,
    nf4_steps,
    normal_density,
)
from tests.core.dtypes.libraries.oracles import NF4_PRINTED


def test_nf4_spreads_normal_values_more_evenly_over_its_codes_than_even_steps_do():
    use = make_code_use(np.random.default_rng(0).normal(size=(64, 256)))
    assert use.nf4.sum() == pytest.approx(1.0)
    assert use.int4.sum() == pytest.approx(1.0)
    assert 3.7 < use.nf4_bits <= 4
    assert use.int4_bits < use.nf4_bits - 0.1
    assert use.int4.argmax() == 7, "the step of zero"


def test_the_histogram_of_blocks_has_area_one_and_every_block_reaches_its_end():
    values = np.random.default_rng(0).normal(size=(8, 640))
    edges, density = block_histogram(values)
    assert np.sum(density * np.diff(edges)) == pytest.approx(1.0)
    ends = (density[0] + density[-1]) * (edges[1] - edges[0])
    assert ends >= 1 / 64


@pytest.mark.parametrize(
    "values", [np.zeros((4, 64)), np.full((1, 64), np.nan), np.ones(5), np.zeros((0, 3))]
)
def test_blocks_of_zeros_of_nan_or_too_few_values_leave_the_histogram_empty(values):
    _edges, density = block_histogram(values)
    assert not density.any()


PRINTED = list(NF4_PRINTED)  # as in bitsandbytes 0.50.2, functional.py, the table of NF4


def test_each_value_is_its_quantile_divided_by_the_largest_one():
    steps = nf4_steps()
    largest = steps[-1].quantile
    assert [step.code for step in steps] == list(range(16))
    assert [step.value for step in steps] == pytest.approx(PRINTED, abs=2e-7)
    assert [step.quantile / largest for step in steps] == pytest.approx(PRINTED, abs=2e-7)


def test_the_shares_lie_below_the_quantiles_evenly_spaced_on_each_side_of_one_half():
    shares = np.array([step.share for step in nf4_steps()])
    assert np.ptp(np.diff(shares[:8])) < 1e-6
    assert np.ptp(np.diff(shares[7:])) < 1e-6
    assert shares[7] == 0.5
    for step in nf4_steps():
        below = (1 + math.erf(step.quantile / math.sqrt(2))) / 2
        assert below == pytest.approx(step.share, abs=1e-6), step.code


def test_the_density_holds_93_5_percent_between_the_outermost_codes():
    places = np.linspace(-1, 1, 2001)
    inside = np.trapezoid(normal_density(places), places)
    assert inside == pytest.approx(2 * 0.9677083 - 1, abs=1e-6)
