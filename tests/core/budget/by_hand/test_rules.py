"""The two rules of thumb, against our own exact closed forms and against published numbers."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.budget.by_hand.gpt import count_parameters, gradients, optimizer, weights
from core.budget.by_hand.rules import (
    copied_bytes,
    flops_rule,
    matmul_flops,
    state_rule,
    stored_bytes,
    two_layer_flops,
)
from core.models.spec import GPTShape

GPT2 = GPTShape(num_layers=12, hidden_dim=768, num_heads=12, vocab_size=50257, seq_len=1024)


def test_sixteen_bytes_a_parameter_are_weights_gradients_and_two_moments():
    num_params = count_parameters(GPT2).amount
    exact = sum(part(GPT2).amount for part in (weights, gradients, optimizer))
    assert state_rule(num_params).amount == pytest.approx(exact, rel=1e-5)


def test_six_nd_of_seventy_billion_on_fifteen_trillion_is_6_3e24():
    # CS336 (2025), lecture 2, question 1.
    item = flops_rule(70 * 10**9, 15 * 10**12)
    assert item.amount == 63 * 10**23
    assert item.substituted == "6 * 70,000,000,000 * 15,000,000,000,000"


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


def test_the_flops_of_a_batch_are_those_that_torch_counts():
    rule = matmul_flops(batch=6, rows=16, inner=32, columns=2)
    with FlopCounterMode(display=False) as counter:
        torch.zeros(6, 16, 32) @ torch.zeros(6, 32, 2)
    assert rule.amount == counter.get_total_flops()
    assert rule.substituted == "2 * 6 * 16 * 32 * 2"


def test_bytes_are_those_of_the_tensors():
    x = torch.zeros(3, 1)
    assert stored_bytes("x", x.numel(), x.itemsize).num_bytes == x.untyped_storage().nbytes()
    assert copied_bytes(48).kind == "measured"
