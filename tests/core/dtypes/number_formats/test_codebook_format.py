"""NF4: the printed table, its derivation, and a list as a format; and the 8-bit dynamic codebook.

Bitsandbytes' own tables and codes are compared in test_block_bitsandbytes.
"""

from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest

from core.dtypes import FORMATS, OVERFLOWS, CodebookFormat
from core.dtypes.number_formats.codebook_format import (
    DYNAMIC8,
    decade_means,
    nf4_shares,
    nf4_values,
)
from tests.core.dtypes.libraries.oracles import NF4_PRINTED

# Dettmers et al. 2023 (QLoRA), appendix E, typed by hand for the proof
PRINTED = list(NF4_PRINTED)
NF4 = FORMATS["nf4"]


def test_the_derived_table_is_the_printed_one_to_the_last_bit():
    assert list(nf4_values()) == PRINTED


def test_the_derivation_is_that_of_normal_quantiles():
    quantile = NormalDist().inv_cdf
    positive = [quantile(share) for share in np.linspace(0.9677083, 0.5, 9)[:-1]]
    negative = [-quantile(share) for share in np.linspace(0.9677083, 0.5, 8)[:-1]]
    derived = np.array([*negative, 0.0, *positive[::-1]]) / max(positive)
    assert np.abs(derived - PRINTED).max() < 1.2e-7
    assert len(nf4_shares(7)) == 7
    assert len(nf4_shares(8)) == 8
    # the outermost share is where the authors say
    assert nf4_shares(8)[0] == pytest.approx(1 - (1 / 32 + 1 / 30) / 2, abs=1e-7)


def test_the_numbers_of_the_table():
    assert (NF4.bits, NF4.max, NF4.min, NF4.num_codes) == (4, 1.0, -1.0, 16)
    assert NF4.eps == 1.0 - 0.7229568362236023
    assert NF4.smallest_normal == NF4.smallest_subnormal == 0.07958029955625534
    assert (NF4.counts().zeros, NF4.counts().finite) == (1, 16)
    assert NF4.exact(15) == Fraction(1)
    assert NF4.decode(np.arange(16)).tolist() == PRINTED
    assert NF4.is_negative(6)
    assert not NF4.is_negative(7)


def nearest(value):
    """Search all sixteen; a tie goes to the lower code."""
    distances = [abs(Fraction(value) - Fraction(each)) for each in PRINTED]
    return distances.index(min(distances))


def test_encoding_finds_the_nearest_number():
    middles = [(low + high) / 2 for low, high in pairwise(PRINTED)]
    edges = [np.nextafter(each, to) for each in middles for to in (-2, 2)]
    values = [*np.random.default_rng(0).uniform(-1.2, 1.2, 2000), *edges]
    assert NF4.encode(values).tolist() == [nearest(value) for value in values]


@pytest.mark.parametrize("overflow", OVERFLOWS)
def test_beyond_the_ends_a_codebook_saturates(overflow):
    values = [2.0, np.inf, -np.inf, -1.0001]
    assert NF4.encode(values, overflow=overflow).tolist() == [15, 15, 0, 0]


def test_directed_modes_take_the_neighbour_on_their_side():
    assert NF4.encode([0.01, -0.01], "up").tolist() == [8, 7]
    assert NF4.encode([0.01, -0.01], "down").tolist() == [7, 6]
    assert NF4.encode([0.01, -0.01], "toward_zero").tolist() == [7, 7]
    half = NF4.max / 2 + PRINTED[14] / 2
    assert NF4.encode([half, -1.0], "nearest_away").tolist() == [15, 0]


@pytest.mark.parametrize("values", [(0.0,), (0.0, 1.0, 2.0), (1.0, 0.0), (1.0, 1.0)])
def test_a_list_that_makes_no_codebook_is_refused(values):
    with pytest.raises(ValueError, match="different numbers in ascending order"):
        CodebookFormat(name="x", values=values, source="nowhere")


def test_every_decade_has_twice_as_many_numbers_as_the_one_below():
    values = np.array(DYNAMIC8.values)
    for decade in range(7):
        low, high = 10.0 ** (decade - 7), 10.0 ** (decade - 6)
        inside = (values > low) & (values < high)
        assert inside.sum() == 2**decade, decade
        assert ((values < -low) & (values > -high)).sum() == 2**decade
    assert len(values) == 256
    assert {0.0, 1.0} <= set(values)
    assert values.min() > -1  # one number has no mirror image: the codes are even in number
    # the numbers of a decade are the middles of equal steps
    np.testing.assert_allclose(decade_means(1), [0.55])
    np.testing.assert_allclose(decade_means(2), [0.325, 0.775])
    np.testing.assert_allclose(decade_means(64), 0.1 + 0.9 * (np.arange(64) + 0.5) / 64, rtol=1e-6)
