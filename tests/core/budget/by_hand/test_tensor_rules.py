"""Bytes and FLOPs of tensors by hand, against torch."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from core.budget.by_hand.tensor_rules import (
    copied_bytes,
    matmul_flops,
    stored_bytes,
)


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
