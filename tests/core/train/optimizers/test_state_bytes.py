"""Bytes of state, in torch's own tensors."""

from core.train.optimizers.rule import NAMED
from core.train.optimizers.state_bytes import NUM_PARAMS, gradient_bytes, state_bytes


def test_adam_keeps_two_numbers_a_weight_momentum_one_and_sgd_none():
    held = {row.name: row.per_parameter for row in state_bytes()}
    assert list(held) == list(NAMED)
    assert (held["SGD"], held["Momentum"], held["AdaGrad"], held["AdamW"], held["Muon"]) == (
        0, 4, 4, 8, 4,
    )  # fmt: skip


def test_gradients_set_to_none_are_freed_and_zeros_are_kept():
    assert gradient_bytes(set_to_none=True) == 0
    assert gradient_bytes(set_to_none=False) == 4 * NUM_PARAMS
