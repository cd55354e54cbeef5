"""First draws, held against what the formulas say."""

import math

import pytest
import torch

from core.models.initialisation import (
    SCHEMES,
    Stack,
    measure_spread,
    product_spread,
    truncation,
)

FAN_IN, FAN_OUT, DEPTH = 400, 300, 8
STDS = {
    "unit": 1,
    "fan_in": FAN_IN**-0.5,
    "xavier": (2 / (FAN_IN + FAN_OUT)) ** 0.5,
    "kaiming": (2 / FAN_IN) ** 0.5,
    "gpt2": 0.02,
    "gpt2_residual": 0.02 / (2 * DEPTH) ** 0.5,
    "truncated": FAN_IN**-0.5 * 0.9866,  # a normal cut at three standard deviations
}


@pytest.mark.parametrize("key", SCHEMES)
def test_a_scheme_draws_the_spread_of_its_formula(key):
    torch.manual_seed(0)
    w = torch.empty(FAN_OUT, FAN_IN)
    SCHEMES[key].draw(w, DEPTH)
    assert w.std().item() == pytest.approx(STDS[key], rel=0.02)


def test_a_product_of_16384_has_a_spread_of_128_and_scaled_of_1():
    found = product_spread(16384)
    assert found["unit"] == pytest.approx(math.sqrt(16384), rel=0.05)
    assert found["fan_in"] == pytest.approx(1, rel=0.05)


def test_bounds_are_absolute_so_that_3_at_a_spread_of_one_128th_never_truncates():
    cut = truncation(16384, in_sigmas=False)
    assert cut.bound_in_sigmas == 384
    assert 4.5 < cut.largest < 6


def test_bounds_in_sigmas_truncate():
    cut = truncation(16384, in_sigmas=True)
    assert cut.bound_in_sigmas == pytest.approx(3)
    assert 2.99 < cut.largest <= 3
    assert sum(cut.counts) == 1_000_000


def test_each_linear_layer_of_unit_weights_multiplies_by_the_root_of_its_width():
    spread = measure_spread(Stack(scheme="unit", activation="none", num_layers=6, width=256))
    assert len(spread.activations) == len(spread.gradients) == 7
    for before, after in zip(spread.activations[:-1], spread.activations[1:], strict=True):
        assert after / before == pytest.approx(16, rel=0.1)
    for before, after in zip(spread.gradients[:-1], spread.gradients[1:], strict=True):
        assert before / after == pytest.approx(16, rel=0.1)


def test_kaiming_holds_relu_where_one_over_fan_in_loses_half_a_layer():
    kept, lost = (
        measure_spread(Stack(scheme=key, num_layers=16, width=512)).activations
        for key in ("kaiming", "fan_in")
    )
    assert kept[-1] > 0.3
    assert lost[-1] / kept[-1] == pytest.approx(2**-8, rel=0.01)


def test_a_residual_stream_of_small_projections_hardly_grows():
    stack = Stack(scheme="gpt2_residual", num_layers=16, width=256, residual=True)
    assert measure_spread(stack).activations[-1] == pytest.approx(1, rel=0.1)


def test_measuring_leaves_torchs_own_state_alone():
    before = torch.random.get_rng_state()
    measure_spread(Stack())
    truncation(256, in_sigmas=True)
    assert torch.equal(torch.random.get_rng_state(), before)
