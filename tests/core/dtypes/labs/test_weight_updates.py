"""Weights that small updates cannot move, against torch."""

import numpy as np
import pytest
import torch

from core.dtypes import FORMATS
from core.dtypes.labs import half_gap_above, weight_updates

BF16, FP16 = FORMATS["bfloat16"], FORMATS["float16"]


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("update", [1e-3, -3e-3, 0.02])
def test_a_stored_weight_moves_as_torchs_does(name, update):
    weight, path = torch.ones((), dtype=getattr(torch, name)), [1.0]
    for _step in range(300):
        # Computed in float32, as optimizers do. (add_ with alpha= rounds the alpha too.)
        weight = (weight.float() + update).to(weight.dtype)
        path.append(float(weight))

    assert weight_updates(1.0, update, 300, FORMATS[name]).stored.tolist() == path


def test_one_and_a_thousandth_in_bfloat16_stays_one():
    lost = weight_updates(1.0, 1e-3, 1000, BF16)

    assert lost.stored[-1] == 1.0
    assert lost.num_lost == 1000
    assert lost.exact[-1] == pytest.approx(2.0)
    assert lost.half_gap == 2**-8 > 1e-3
    assert lost.master is None


def test_a_float32_master_brings_the_weight_home():
    kept = weight_updates(1.0, 1e-3, 1000, BF16, master=True)

    assert kept.stored[-1] == 2.0
    assert kept.master[-1] == pytest.approx(2.0, abs=1e-4)
    np.testing.assert_array_equal(kept.stored, BF16.round(kept.master))
    torch_master = torch.ones(())
    for _step in range(1000):
        torch_master += 1e-3
    assert kept.master[-1] == float(torch_master)


def test_stochastic_rounding_is_unbiased():
    ends = [
        weight_updates(1.0, 1e-3, 1000, BF16, "stochastic", rng=np.random.default_rng(seed)).stored[
            -1
        ]
        for seed in range(80)
    ]
    assert np.mean(ends) == pytest.approx(2.0, abs=5 * np.std(ends) / 80**0.5)
    assert np.std(ends) < 0.15


def test_an_update_above_half_a_gap_is_not_lost_and_one_below_is():
    for fmt in (BF16, FP16):
        half = half_gap_above(fmt, 1.0)
        assert half == fmt.eps / 2
        assert weight_updates(1.0, half * 1.01, 1, fmt).num_lost == 0
        assert weight_updates(1.0, half * 0.99, 1, fmt).num_lost == 1


def test_below_a_power_of_two_the_gap_is_half_as_wide():
    assert half_gap_above(BF16, 1.0, below=True) == 2**-9
    assert weight_updates(1.0, -1e-3, 10, BF16).half_gap == 2**-9


def test_no_update_loses_nothing():
    assert weight_updates(1.0, 0.0, 3, BF16).num_lost == 0


@pytest.mark.parametrize(("w0", "update", "steps"), [(1, 1, 0), (np.nan, 1, 1), (1, np.inf, 1)])
def test_what_is_no_training_is_refused(w0, update, steps):
    with pytest.raises(ValueError, match="use finite numbers and 1 step or more"):
        weight_updates(w0, update, steps, BF16)
