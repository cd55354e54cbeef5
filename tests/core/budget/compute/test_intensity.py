"""Arithmetic intensity against Stanford CS336 and against tensors counted by hand."""

import pytest

from core.budget.compute.intensity import (
    bound,
    elementwise,
    examples,
    matmul,
    ridge,
    roofline_seconds,
    together,
)
from tests.core.budget.refusals import refused

PEAK, BANDWIDTH = 989.5e12, 3.35e12  # the lecture's H100


def test_the_five_examples_of_the_lecture():
    got = [operation.intensity.amount for operation in examples(1024)]
    assert got == pytest.approx([0.25, 5, 0.5, 0.998, 1024 / 3], rel=1e-3)


def test_an_h100_waits_below_295_flops_a_byte_so_a_matmul_below_887():
    edge = ridge(PEAK, BANDWIDTH).amount
    assert edge == pytest.approx(295.4, abs=0.05)
    sizes = [n for n in range(1, 2000) if matmul("m", n, n, n).intensity.amount >= edge]
    assert sizes[0] == 887


def test_bytes_are_those_of_the_three_matrices():
    product = matmul("m", 3, 5, 7, item_bytes=4)
    assert product.flops.amount == 2 * 3 * 5 * 7
    assert product.moved.amount == 4 * (3 * 5 + 5 * 7 + 3 * 7)
    added = elementwise("sum", 3, 5, flops_each=1, num_operands=3, item_bytes=2)
    assert (added.flops.amount, added.moved.amount) == (15, 90)


def test_a_bound_is_a_share_and_the_time_is_the_longer_of_the_two():
    slow, _gelu, _dot, _vector, fast = examples(1024)
    assert bound(fast, PEAK, BANDWIDTH).amount == 1
    assert bound(slow, PEAK, BANDWIDTH).amount == pytest.approx(0.25 / 295.373, rel=1e-5)
    for operation in (slow, fast):
        seconds = roofline_seconds(operation, PEAK, BANDWIDTH).amount
        share = bound(operation, PEAK, BANDWIDTH).amount
        assert operation.flops.amount / seconds == pytest.approx(share * PEAK)


def test_sizes_and_devices_that_cannot_be_are_refused():
    refused("size is 0; it must lie between 1 and", examples, 0)
    refused("bandwidth is 0; it must lie between 1 and", ridge, 1.0, 0)
    refused("flops_per_second is 0", bound, examples(2)[0], 0, 1.0)


def test_bytes_moved_are_the_fewest_so_what_follows_from_them_is_a_bound():
    operations = examples(1024)
    for operation in operations:
        assert (operation.flops.kind, operation.moved.kind) == ("exact", "bound")
        assert operation.intensity.kind == "bound"
        assert bound(operation, PEAK, BANDWIDTH).kind == "bound"
        assert roofline_seconds(operation, PEAK, BANDWIDTH).kind == "bound"
    assert together(operations, PEAK, BANDWIDTH).kind == "bound"
    assert together(operations, PEAK, BANDWIDTH, known="claimed").kind == "claimed"
    assert ridge(PEAK, BANDWIDTH).kind == "data sheet"
    assert ridge(PEAK, BANDWIDTH, kind="claimed").kind == "claimed"
