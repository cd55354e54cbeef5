"""Chinchilla: the paper's own model comes out of its own compute."""

import pytest

from core.budget.compute.chinchilla import (
    BESIROGLU,
    FITS,
    HOFFMANN,
    best_params,
    best_tokens,
    loss_for_size,
    lowest_params,
    lowest_ratio,
    machine_flops,
)
from tests.core.budget.refusals import refused


def test_the_compute_of_gopher_is_best_spent_on_70_b_and_1_4_t_tokens():
    # Hoffmann et al. 2022, abstract: the same compute as Gopher, 5.76e23 FLOPs.
    assert best_params(5.76e23).amount == pytest.approx(70e9, rel=0.02)
    assert best_tokens(5.76e23).amount == pytest.approx(1.4e12, rel=0.02)


def test_size_and_tokens_use_up_the_compute():
    for flops in (1e18, 1e21, 1e25):
        used = 6 * best_params(flops).amount * best_tokens(flops).amount
        assert used == pytest.approx(flops)


def test_chinchilla_s_loss_is_about_1_94_by_its_own_law():
    assert loss_for_size(5.88e23, 70e9, HOFFMANN) == pytest.approx(1.937, abs=0.001)


def test_the_lowest_points_of_both_laws_are_those_that_a_search_finds():
    for fit in FITS:
        for flops in (1e20, 9.574e21, 5.76e23):
            best = lowest_params(flops, fit).amount
            here = loss_for_size(flops, best, fit)
            assert here < min(loss_for_size(flops, best * step, fit) for step in (0.99, 1.01))


def test_the_printed_constants_of_approach_3_do_not_lead_to_20_tokens():
    """Besiroglu et al. 2024, section 1: approach 3 as printed disagrees with approaches 1 and 2."""
    assert lowest_ratio(9.574e21, HOFFMANN).amount == pytest.approx(62.3, abs=0.05)
    assert lowest_ratio(5.76e23, HOFFMANN).amount == pytest.approx(92.6, abs=0.05)
    assert 15 < lowest_ratio(5.76e23, BESIROGLU).amount < 26


def test_what_cannot_be_is_refused():
    refused("flops is 0; it must lie between 1 and", best_params, 0)
    refused("flops is 0; it must lie between 1 and", lowest_ratio, 0)


def test_a_share_of_the_peak_is_no_bound_but_an_estimate_with_a_band():
    whole, part = machine_flops(8, 14, 1e15), machine_flops(8, 14, 1e15, share=0.4)
    assert (whole.kind, whole.low, whole.high) == ("bound", whole.amount, whole.amount)
    assert part.kind == "estimated"
    assert part.low < part.amount < part.high < whole.amount
