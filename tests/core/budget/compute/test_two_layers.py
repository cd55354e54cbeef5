"""The two-layer example against FlopCounterMode."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.budget.compute.two_layers import two_layer_flops


def counted(rows, width, outputs, *, input_needs_gradient):
    x = torch.ones(rows, width, device="meta", requires_grad=input_needs_gradient)
    w1 = torch.ones(width, width, device="meta", requires_grad=True)
    w2 = torch.ones(width, outputs, device="meta", requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        y = x @ w1 @ w2
        forward = counter.get_total_flops()
        y.sum().backward()
    return forward, counter.get_total_flops() - forward


@pytest.mark.parametrize("needed", [True, False])
def test_the_closed_form_is_what_torch_counts(needed):
    for sizes in ((1024, 256, 64), (3, 5, 7), (16384, 32768, 8192)):
        item = two_layer_flops(*sizes, input_needs_gradient=needed)
        got = tuple(item.child(name).amount for name in ("forward", "backward"))
        assert got == counted(*sizes, input_needs_gradient=needed), sizes


def test_the_numbers_of_the_lecture_and_the_one_that_is_measured():
    # CS336 says 4.398e13 and 8.796e13; data needs no gradient, so it is 5.278e13.
    big = two_layer_flops(16384, 32768, 8192, input_needs_gradient=True)
    assert big.child("forward").amount == pytest.approx(4.398e13, rel=1e-4)
    assert big.child("backward").amount == pytest.approx(8.796e13, rel=1e-4)
    measured = two_layer_flops(16384, 32768, 8192, input_needs_gradient=False)
    assert measured.child("backward").amount == pytest.approx(5.278e13, rel=1e-4)
    small = two_layer_flops(1024, 256, 64, input_needs_gradient=False)
    assert small.child("forward").amount == 167_772_160
    assert small.child("backward").amount == 201_326_592


def test_sizes_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="width is 0; it must lie between 1 and 1,000,000"):
        two_layer_flops(1, 0, 1, input_needs_gradient=True)
