"""Tiles and histogram of an error, against the plain formulas."""

import numpy as np
import pytest

from core.dtypes.blocks.error_view import (
    error_histogram,
    histogram_centers,
    make_losses,
    tile_errors,
    typical_size,
)
from core.dtypes.blocks.storage import find_storage
from core.dtypes.blocks.teaching_tensors import looked_at, teaching_tensor


def test_a_small_tensor_has_one_tile_a_value():
    x = np.array([[1.0, -1.0], [1.0, 1.0]])
    restored = np.array([[1.0, -1.5], [1.0, np.nan]])

    tiles = tile_errors(x, restored)

    assert tiles[0].tolist() == [0.0, 0.5]
    assert tiles[1, 0] == 0.0
    assert np.isnan(tiles[1, 1])


@pytest.mark.parametrize("shape", [(256, 256), (100, 333), (1, 1000), (49, 65)])
def test_tiles_share_all_of_the_error(shape):
    rng = np.random.default_rng(0)
    x, error = rng.normal(size=shape), rng.normal(size=shape)

    tiles = tile_errors(x, x + error)

    assert tiles.shape == (min(shape[0], 48), min(shape[1], 64))
    rms = np.sqrt(np.mean(error**2)) / typical_size(x)
    assert np.sqrt(np.mean(tiles**2)) == pytest.approx(rms, rel=0.1)


def test_the_shares_of_the_histogram_and_the_exact_share_add_up():
    x = looked_at(teaching_tensor("normal", 64, 0))
    restored = find_storage("mxfp4").round(x)

    shares, exact = error_histogram(x, restored)

    assert shares.sum() + exact == pytest.approx(1.0)
    assert shares.size == histogram_centers().size


def test_the_histogram_peaks_at_the_typical_error():
    x = np.ones((10, 10))

    shares, exact = error_histogram(x, x * 1.001)

    assert exact == 0
    assert histogram_centers()[shares.argmax()] == pytest.approx(1e-3, rel=0.35)


def test_zeros_and_lost_values_are_defined():
    zeros, lost = np.zeros((4, 4)), np.full((4, 4), np.nan)

    assert typical_size(zeros) == typical_size(lost) == 1.0
    assert error_histogram(zeros, zeros) == (pytest.approx(np.zeros(72)), 1.0)
    assert error_histogram(zeros, lost)[1] == 0.0


def test_the_loss_of_a_storage_carries_its_name_and_statistics():
    x = looked_at(teaching_tensor("one_nan", 64, 0))

    lost, kept = make_losses(x, [find_storage("int8_tensor"), find_storage("int8_group128")])

    assert (lost.name, lost.stats.num_values, lost.stats.num_lost) == ("int8_tensor", 0, 4095)
    assert kept.stats.num_lost == 63  # a group of 128 ends with its row of 64
    assert int(np.isnan(kept.tiles).sum()) == 64
