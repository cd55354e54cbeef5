import numpy as np
import pytest

from core.dtypes import FORMATS
from core.dtypes.labs import stochastic_updates

BF16 = FORMATS["bfloat16"]


def rng():
    return np.random.default_rng(0)


def test_the_mean_of_many_weights_is_right_and_rounding_to_nearest_never_moves():
    many = stochastic_updates(1.0, 1e-3, 1000, BF16, 200, rng())

    assert many.exact[-1] == pytest.approx(2.0)
    assert many.nearest[-1] == 1.0
    assert abs(many.mean[-1] - 2.0) < 5 * many.standard_error
    assert many.low[-1] < 2.0 < many.high[-1]
    assert many.chance == pytest.approx(1e-3 / 2**-7)


def test_every_stored_weight_is_a_number_of_the_format():
    many = stochastic_updates(1.0, -1e-3, 50, BF16, 20, rng())
    assert many.paths.shape == (8, 51)
    np.testing.assert_array_equal(BF16.round(many.paths), many.paths)
    assert (many.paths[:, 0] == 1.0).all()
    assert many.chance == pytest.approx(1e-3 / 2**-8)  # below a power of two the gap is half


def test_four_times_the_weights_halve_the_error_of_the_mean():
    few, many = (
        stochastic_updates(1.0, 1e-3, 200, BF16, n, rng()).standard_error for n in (100, 1600)
    )
    assert few == pytest.approx(4 * many, rel=0.3)


def test_updates_that_need_no_rounding_have_no_spread():
    exact = stochastic_updates(1.0, 2**-7, 20, BF16, 5, rng())
    np.testing.assert_array_equal(exact.low, exact.high)
    np.testing.assert_array_equal(exact.mean, exact.exact)
    assert (exact.chance, exact.standard_error) == (1.0, 0.0)


def test_no_weights_and_no_steps_are_refused():
    with pytest.raises(ValueError, match="0 weights: use 1 or more"):
        stochastic_updates(1.0, 1e-3, 5, BF16, 0, rng())
    with pytest.raises(ValueError, match="use finite numbers and 1 step or more"):
        stochastic_updates(1.0, 1e-3, 0, BF16, 5, rng())
