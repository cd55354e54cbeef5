"""The error of a restored tensor in numbers."""

import math

import numpy as np
import pytest
import torch

from core.dtypes import BLOCK_FORMATS, error_stats


def test_the_numbers_of_a_tensor_small_enough_for_the_hand():
    stats = error_stats([3.0, -4.0, 0.0, 2.0], [3.0, -5.0, 0.0, 0.0])
    assert stats.num_values == 4
    assert stats.rmse == math.sqrt(5 / 4)
    assert stats.sqnr_db == pytest.approx(10 * math.log10(29 / 5))
    assert (stats.max_abs, stats.max_relative, stats.num_zeroed) == (2.0, 1.0, 1)
    assert stats.cosine == pytest.approx(29 / math.sqrt(29 * 34))
    assert (stats.num_clipped, stats.num_lost, stats.num_ignored) == (None, 0, 0)


def test_torch_agrees_about_error_and_angle():
    x = np.random.default_rng(0).normal(size=(64, 65))
    restored = BLOCK_FORMATS["mxfp4"].round(x)
    stats = error_stats(x, restored)
    before, after = torch.tensor(x).flatten(), torch.tensor(restored).flatten()
    assert stats.rmse**2 == pytest.approx(torch.nn.functional.mse_loss(after, before).item())
    assert stats.cosine == pytest.approx(torch.cosine_similarity(before, after, dim=0).item())
    assert stats.max_abs == (before - after).abs().max().item()


def test_nothing_lost_is_infinitely_good_and_everything_lost_infinitely_bad():
    inf = math.inf
    for x, restored, *known in ((1, 1, inf, 1), (0, 0, inf, 1), (0, 1, -inf, 0), (1, 0, 0, 0)):
        stats = error_stats([x], [restored])
        assert [stats.sqnr_db, stats.cosine] == known, (x, restored)
    # an error at zero has no size relative to it
    assert error_stats([0.0], [1.0]).max_relative == 0.0


def test_nan_and_infinity_are_counted_and_left_out():
    stats = error_stats([1.0, np.nan, np.inf, 2.0, 3.0], [1.0, np.nan, 448.0, np.nan, np.inf])
    assert (stats.num_values, stats.num_lost, stats.num_ignored) == (1, 2, 2)
    assert (stats.rmse, stats.sqnr_db) == (0.0, math.inf)
    nothing = error_stats([np.nan], [np.nan])
    assert nothing.num_values == 0
    assert math.isnan(nothing.sqnr_db)
    assert math.isnan(nothing.cosine)
    empty = error_stats(np.zeros((0, 3)), np.zeros((0, 3)))
    assert (empty.num_values, empty.rmse, empty.max_abs, empty.max_relative) == (0, 0.0, 0.0, 0.0)


def test_numbers_as_large_and_as_small_as_float32_allows_neither_overflow_nor_warn():
    large = error_stats(np.full(4, 3e38), np.full(4, 2e38))
    assert large.sqnr_db == pytest.approx(20 * math.log10(3))
    small = error_stats(np.full(4, 1e-44), np.full(4, 2e-44))
    assert small.max_relative == 1.0
    assert small.sqnr_db == pytest.approx(0.0)
