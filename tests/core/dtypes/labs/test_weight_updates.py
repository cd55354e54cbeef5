"""Weights that small updates cannot move, against torch; and many under stochastic rounding."""

import numpy as np
import pytest
import torch

from core.dtypes import FORMATS
from core.dtypes.labs.weight_updates import half_gap_above, stochastic_updates, weight_updates

BF16, FP16 = FORMATS["bfloat16"], FORMATS["float16"]


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("update", [1e-3, -3e-3, 0.02])
def test_a_stored_weight_moves_as_torchs_does(name, update):
    weight, path = torch.ones((), dtype=getattr(torch, name)), [1.0]
    for _step in range(300):
        # Computed in float32, as optimizers do. (add_ with alpha= rounds the alpha too.)
        weight = (weight.float() + update).to(weight.dtype)
        path.append(float(weight))
    assert weight_updates(1.0, update, 300, FORMATS[name]).stored.tolist() == path


def test_a_float32_master_brings_the_weight_home():
    kept = weight_updates(1.0, 1e-3, 1000, BF16, master=True)
    assert kept.stored[-1] == 2.0
    assert kept.master[-1] == pytest.approx(2.0, abs=1e-4)
    np.testing.assert_array_equal(kept.stored, BF16.round(kept.master))
    torch_master = torch.ones(())
    for _step in range(1000):
        torch_master += 1e-3
    assert kept.master[-1] == float(torch_master)


def test_an_update_above_half_a_gap_is_not_lost_and_one_below_is():
    for fmt in (BF16, FP16):
        half = half_gap_above(fmt, 1.0)
        assert half == fmt.eps / 2
        assert weight_updates(1.0, half * 1.01, 1, fmt).num_lost == 0
        assert weight_updates(1.0, half * 0.99, 1, fmt).num_lost == 1
        assert weight_updates(1.0, 0.0, 3, fmt).num_lost == 0, "no update loses nothing"


def test_the_mean_of_many_weights_is_right_and_rounding_to_nearest_never_moves():
    many = stochastic_updates(1.0, 1e-3, 1000, BF16, 200, rng())
    assert many.exact[-1] == pytest.approx(2.0)
    assert many.nearest[-1] == 1.0
    assert abs(many.mean[-1] - 2.0) < 5 * (many.high[-1] - many.low[-1]) / 3.3 / 200**0.5
    assert many.low[-1] < 2.0 < many.high[-1]
    assert many.chance == pytest.approx(1e-3 / 2**-7)


def test_every_stored_weight_is_a_number_of_the_format():
    many = stochastic_updates(1.0, 1e-3, 50, BF16, 20, rng())
    assert many.paths.shape == (8, 51)
    np.testing.assert_array_equal(BF16.round(many.paths), many.paths)
    assert (many.paths[:, 0] == 1.0).all()


def test_updates_that_need_no_rounding_have_no_spread():
    exact = stochastic_updates(1.0, 2**-7, 20, BF16, 5, rng())
    np.testing.assert_array_equal(exact.low, exact.high)
    np.testing.assert_array_equal(exact.mean, exact.exact)
    assert exact.chance == 1.0
