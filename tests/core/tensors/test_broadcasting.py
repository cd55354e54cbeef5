"""Which shapes go together, against torch: random shapes, and the words of its refusals."""

import math
from random import Random

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.tensors.broadcasting import broadcast, explain_broadcast, matmul_shape, matmul_sizes
from core.tensors.torch_answers import (
    broadcast_refusal,
    matmul_refusal,
    run_matmul,
)

LENGTHS = (0, 1, 1, 2, 3)


def random_shape(chance, fewest=0):
    return tuple(chance.choice(LENGTHS) for _dim in range(chance.randint(fewest, 4)))


def of_torch(run):
    """Return what torch gives, or its words."""
    try:
        return run()
    except RuntimeError as error:
        return str(error)


def test_thousands_of_random_shapes_broadcast_as_torch_does_it():
    chance = Random(0)  # noqa: S311
    for _number in range(3000):
        shapes = [random_shape(chance) for _each in range(chance.randint(2, 4))]
        given = of_torch(lambda shapes=shapes: torch.broadcast_tensors(*map(torch.zeros, shapes)))
        verdict = explain_broadcast(*shapes)
        assert verdict.ok == (not isinstance(given, str)), shapes
        assert broadcast_refusal(shapes) == ("" if verdict.ok else given), shapes
        if verdict.ok:
            assert verdict.shape == tuple(given[0].shape), shapes


def test_operands_are_read_with_the_strides_of_torch():
    chance = Random(1)  # noqa: S311
    for _number in range(1000):
        shapes = {name: random_shape(chance) for name in "ab"}
        case = broadcast(shapes, 4)
        if case.result is None:
            continue
        given = torch.broadcast_tensors(*map(torch.zeros, shapes.values()))
        strides = [each.read.stride for each in case.operands]
        assert strides == [each.stride() for each in given], shapes
        for column, *steps in zip(case.verdict.columns, *strides, strict=True):
            for is_stretched, length, step in zip(
                column.stretched, column.lengths, steps, strict=True
            ):
                assert is_stretched == (column.length not in {1, length}), shapes
                assert not is_stretched or step == 0, shapes


def test_random_matrix_products_have_the_shape_of_torch_or_its_refusal():
    chance = Random(2)  # noqa: S311
    for _number in range(2000):
        left, right = random_shape(chance), random_shape(chance)
        given = of_torch(lambda left=left, right=right: torch.zeros(left) @ torch.zeros(right))
        verdict = matmul_shape(left, right)
        assert verdict.ok == (not isinstance(given, str)), (left, right)
        assert matmul_refusal(left, right) == ("" if verdict.ok else given), (left, right)
        if verdict.ok:
            assert verdict.shape == tuple(given.shape), (left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((4, 8, 16, 32), (32, 2)),
        ((2, 1, 16, 32), (3, 32, 2)),
        ((16, 32), (32, 2)),
        ((5, 2, 3), (3,)),
    ],
)
def test_flops_are_those_that_torch_counts(left, right):
    sizes, step = matmul_sizes(left, right), run_matmul(left, right, "float32")
    counted = 2 * math.prod(sizes.values())
    with FlopCounterMode(display=False) as counter:
        product = torch.zeros(left) @ torch.zeros(right)
    # torch's counter leaves out products with a vector
    assert counter.get_total_flops() in {counted, 0 if len(right) == 1 else counted}
    assert step.outputs[0].layout.shape == tuple(product.shape)


def test_batches_that_stretch_on_both_sides_are_copied_in_full():
    step = run_matmul((2, 1, 16, 32), (3, 32, 2), "float32")
    assert step.bytes_hidden == 4 * (2 * 3 * 16 * 32 + 2 * 3 * 32 * 2)
    assert run_matmul((4, 8, 16, 32), (32, 2), "float32").bytes_hidden == 0


def test_grouped_query_attention_copies_k_for_every_query_head():
    step = run_matmul((1, 8, 8, 1024, 128), (1, 8, 1, 128, 1024), "bfloat16")
    assert step.bytes_hidden == 2 * 64 * 128 * 1024


def test_a_message_costs_no_memory_for_huge_tensors():
    huge = (1_000_000, 1000, 1000)
    assert "must match" in broadcast_refusal([huge, (7,)])
    assert "cannot be multiplied" in matmul_refusal(huge, (7, 2))


def test_the_columns_in_the_way_are_named():
    verdict = explain_broadcast((2, 3, 4), (3, 5), (7, 1, 1))
    assert [column.dim for column in verdict.columns if column.length is None] == [-3, -1]
    assert [column.lengths for column in verdict.columns] == [(2, None, 7), (3, 3, 1), (4, 5, 1)]
    assert explain_broadcast() == explain_broadcast(())


@pytest.mark.parametrize(
    ("left", "right", "dims"),
    [((4, 8, 16, 32), (32, 2), [-4, -3]), ((5, 3), (3,), []), ((2, 3), (7, 3, 4), [-3])],
)
def test_batches_of_a_product_are_counted_from_the_right_of_its_result(left, right, dims):
    verdict = matmul_shape(left, right)
    assert [column.dim for column in verdict.columns[:-1]] == dims
    lengths = [column.length for column in verdict.columns[:-1]]
    assert lengths == [verdict.shape[dim] for dim in dims]
    assert verdict.columns[-1].lengths == (left[-1], right[-2:][0])
