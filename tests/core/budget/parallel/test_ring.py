"""The ring all-reduce: its sums against numpy, its bytes against the formula of NCCL's tests."""

import numpy as np

from core.budget.parallel.ring import MAX_RANKS, PHASES, bytes_sent, ring_all_reduce, times_sent
from tests.core.budget.refusals import refused


def test_every_rank_ends_with_the_sum():
    rng = np.random.default_rng(0)
    for num_ranks in range(2, MAX_RANKS + 1):
        arrays = rng.integers(-99, 99, (num_ranks, 3 * num_ranks)).astype(float)
        last = ring_all_reduce(arrays.tolist())[-1]
        for rank in range(num_ranks):
            assert np.concatenate(last.values[rank]).tolist() == arrays.sum(0).tolist(), num_ranks


def test_the_bytes_of_a_rank_are_two_parts_of_n_minus_one_nth():
    for num_ranks in range(2, MAX_RANKS + 1):
        steps = ring_all_reduce([[1.0] * 2 * num_ranks] * num_ranks)
        array = 4 * 2 * num_ranks
        assert len(steps) == 1 + 2 * (num_ranks - 1)
        for rank in range(num_ranks):
            assert bytes_sent(steps, rank) == 2 * (num_ranks - 1) * array // num_ranks
            for phase in PHASES:
                half = [step for step in steps if step.phase == phase]
                assert bytes_sent(half, rank) == (num_ranks - 1) * array // num_ranks


def test_what_is_shown_as_summed_is_what_the_value_says():
    steps = ring_all_reduce([[float(10**rank)] * 4 for rank in range(4)])
    for step in steps:
        for values, owners in zip(step.values, step.ranks_in, strict=True):
            for chunk, ranks in zip(values, owners, strict=True):
                assert chunk == (float(sum(10**rank for rank in ranks)),)


def test_arrays_that_cannot_be_cut_are_a_sentence():
    refused("a multiple of the 2 ranks", ring_all_reduce, [[1.0], [2.0]])
    refused("arrays of one length", ring_all_reduce, [[1.0, 2.0], [2.0]])
    refused("num_ranks is 1; it must lie between 2 and 8", ring_all_reduce, [[1.0]])


def test_the_formula_says_what_a_ring_really_sends():
    for ranks in range(2, 9):
        array = [1.0] * ranks
        steps = ring_all_reduce([array] * ranks)
        assert times_sent(ranks) == bytes_sent(steps, rank=0) / (4 * ranks), ranks
    assert times_sent(16) == 1.875
