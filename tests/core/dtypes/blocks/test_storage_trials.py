"""Tiles and histogram of an error, against the plain formulas."""

import math
from dataclasses import replace

import numpy as np
import pytest

from core.dtypes.blocks.error_stats import error_stats
from core.dtypes.blocks.sample_tensors import looked_at, teaching_tensor
from core.dtypes.blocks.scale_rules import SCALE_RULES
from core.dtypes.blocks.storage import find_storage
from core.dtypes.blocks.storage_trials import (
    Trial,
    best_per_bit,
    error_histogram,
    histogram_centers,
    make_losses,
    tile_errors,
    typical_size,
)


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


def test_the_shares_of_the_histogram_add_up_and_peak_at_the_typical_error():
    x = looked_at(teaching_tensor("normal", 64, 0))
    restored = find_storage("mxfp4").round(x)
    shares, exact = error_histogram(x, restored)
    assert shares.sum() + exact == pytest.approx(1.0)
    assert shares.size == histogram_centers().size
    x = np.ones((10, 10))
    shares, exact = error_histogram(x, x * 1.001)
    assert exact == 0
    assert histogram_centers()[shares.argmax()] == pytest.approx(1e-3, rel=0.35)


def test_the_loss_of_a_storage_carries_its_name_and_statistics():
    x = looked_at(teaching_tensor("one_nan", 64, 0))
    lost, kept = make_losses(x, [find_storage("int8_tensor"), find_storage("int8_group128")])
    assert (lost.name, lost.stats.num_values, lost.stats.num_lost) == ("int8_tensor", 0, 4095)
    assert kept.stats.num_lost == 63  # a group of 128 ends with its row of 64
    assert int(np.isnan(kept.tiles).sum()) == 64


def test_what_is_beaten_in_size_and_quality_is_not_among_the_best():
    known = error_stats([1.0], [1.0])
    rows = [("small", 4, 20), ("beaten", 5, 19), ("twin", 4, 18), ("large", 8, 40)]
    rows += [("exact", 9, math.inf), ("lost", 3, math.nan)]
    trials = [Trial(name=n, bits=b, stats=replace(known, sqnr_db=q)) for n, b, q in rows]
    half_lost = replace(known, sqnr_db=50, num_lost=1)
    trials.append(Trial(name="half lost", bits=3, stats=half_lost))
    assert [trial.name for trial in best_per_bit(trials)] == ["small", "large"]


def test_floor_clips_957_to_896_and_rceil_keeps_it():
    # github.com/microsoft/microxcaling, issue 4: "957 is quantized as 896"
    ramp = looked_at(teaching_tensor("ramp", 64, 0))
    largest = {rule: find_storage("mxfp8_e4m3", rule).store(ramp) for rule in SCALE_RULES}
    assert {rule: stored.restored.max() for rule, stored in largest.items()} == {
        "floor": 896, "even": 896, "ceil": 960, "rceil": 960,
    }  # fmt: skip
    assert (largest["floor"].scales[0], largest["rceil"].scales[0]) == (2, 4)
    assert (largest["floor"].stats.num_clipped, largest["rceil"].stats.num_clipped) == (128, 0)
    assert find_storage("mxfp8_e4m3", "rceil").name == "mxfp8_e4m3_rceil"
