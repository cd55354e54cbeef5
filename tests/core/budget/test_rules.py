"""The two rules of thumb, against our own exact closed forms and against published numbers."""

import pytest

from core.budget.gpt import count_parameters, gradients, optimizer, step_flops, weights
from core.budget.rules import flops_rule, state_rule
from core.models.shape import GPTShape

GPT2 = GPTShape(num_layers=12, hidden_dim=768, num_heads=12, vocab_size=50257, seq_len=1024)


def test_sixteen_bytes_a_parameter_are_weights_gradients_and_two_moments():
    num_params = count_parameters(GPT2).amount
    exact = sum(part(GPT2).amount for part in (weights, gradients, optimizer))

    assert state_rule(num_params).amount == pytest.approx(exact, rel=1e-5)


def test_the_sixteen_bytes_are_the_sum_of_their_parts():
    state = state_rule(1000)

    assert [part.amount for part in state.children] == [2000, 2000, 4000, 8000]
    assert sum(part.amount for part in state.children) == state.amount


def test_forty_billion_parameters_fill_eight_cards_of_eighty_gigabytes():
    # CS336 (2025), lecture 2, question 2.
    assert state_rule(40 * 10**9).amount == 8 * 80 * 10**9


def test_six_nd_of_seventy_billion_on_fifteen_trillion_is_6_3e24():
    # CS336 (2025), lecture 2, question 1.
    item = flops_rule(70 * 10**9, 15 * 10**12)

    assert item.amount == 63 * 10**23
    assert item.substituted == "6 * 70,000,000,000 * 15,000,000,000,000"


def test_six_nd_is_near_the_exact_count_for_a_short_context():
    short = GPTShape(num_layers=12, hidden_dim=768, num_heads=12, vocab_size=50257, seq_len=64)
    rule = flops_rule(count_parameters(short).amount, 8 * 64)

    assert rule.low <= step_flops(short, 8).amount <= rule.high
