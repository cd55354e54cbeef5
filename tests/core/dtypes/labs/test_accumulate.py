"""Running sums against torch, which adds 16-bit tensors one by one in the same way."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.dtypes import FORMATS
from core.dtypes.labs.accumulate import accumulate

SIXTEEN_BITS = ("float16", "bfloat16")


@pytest.mark.parametrize("name", SIXTEEN_BITS)
def test_every_partial_sum_is_torchs(name):
    dtype, values = getattr(torch, name), np.random.default_rng(0).normal(0, 3, 500)
    total, partial = torch.zeros((), dtype=dtype), []
    for value in torch.tensor(values, dtype=torch.float32).to(dtype):
        total = total + value
        partial.append(float(total))
    ours = accumulate(values.astype(np.float32), FORMATS[name])
    assert ours.sums.tolist() == partial
    assert ours.counts.tolist() == list(range(1, 501))


@pytest.mark.parametrize(
    ("name", "stall"),
    [("float16", 2048), ("bfloat16", 256), ("float8_e4m3fn", 16), ("float8_e5m2", 8)],
)
def test_a_sum_of_ones_stalls_where_the_gap_is_two(name, stall):
    ones = accumulate(np.ones(5000), FORMATS[name])
    assert (ones.result, ones.stalls_after) == (stall, stall)
    assert ones.exact == 5000


@pytest.mark.parametrize("name", SIXTEEN_BITS)
def test_adding_in_float32_and_casting_once_is_torch_sum(name):
    values = np.random.default_rng(1).integers(0, 50, 3000) / 8
    stored = torch.tensor(values).to(getattr(torch, name))
    ours = accumulate(values, FORMATS[name], order="float32_then_cast")
    assert ours.result == float(stored.sum())
    assert ours.stalls_after is None


def test_pairs_of_equals_lose_nothing():
    for count in (1, 2, 3, 7, 1024, 4096):
        pairwise = accumulate(np.ones(count), FORMATS["bfloat16"], order="pairwise")
        assert abs(pairwise.result - count) <= count * 2**-8, count
    assert accumulate(np.full(4096, 1.0), FORMATS["float16"], order="pairwise").result == 4096


@given(st.lists(st.floats(-100, 100, width=16), min_size=1, max_size=40))
def test_the_exact_sum_is_that_of_the_values_and_the_last_stored_sum_is_a_stored_number(values):
    fmt = FORMATS["float16"]
    ours = accumulate(values, fmt)
    assert ours.exact == pytest.approx(sum(values), abs=1e-9)
    np.testing.assert_array_equal(fmt.round(ours.sums), ours.sums)


def test_a_sum_that_overflows_stays_infinite_and_does_not_count_as_stalled_early():
    ours = accumulate([60000.0, 10000.0, 1.0], FORMATS["float16"])
    assert ours.sums.tolist() == [60000.0, np.inf, np.inf]
    assert ours.stalls_after == 2
    assert np.isnan(accumulate([448.0] * 3, FORMATS["float8_e4m3fn"]).result)
    # a sum that only zeros follow has not stalled at all
    assert accumulate([1.0, 0.0, 0.0], FORMATS["float16"]).stalls_after is None


def test_a_sum_that_chance_rounds_never_stalls_for_good():
    rng = np.random.default_rng(0)
    ones = accumulate(np.ones(10_000), FORMATS["bfloat16"], "stochastic", rng=rng)
    assert ones.sums[-2] == ones.sums[-1]  # the last draw happened to change nothing
    assert ones.stalls_after is None
