"""Which shapes go together, against torch."""

from random import Random

import pytest
import torch

from core.tensors.broadcasting import explain_broadcast, matmul_shape

NUM_SETS = 20_000
NUM_PRODUCTS = 5_000


def random_shapes(rng):
    """Two to four shapes that are alike, with 1, 0 and a strange length here and there."""
    whole = [rng.choice([0, 1, 2, 3, 4, 5]) for _ in range(rng.randint(0, 4))]
    shapes = []
    for _ in range(rng.randint(2, 4)):
        shape = whole[rng.randint(0, len(whole)) :]
        kinds = [1 if rng.random() < 0.3 else length for length in shape]
        if kinds and rng.random() < 0.15:
            kinds[rng.randrange(len(kinds))] = rng.choice([0, 1, 2, 7])
        shapes.append(tuple(kinds))
    return shapes


def test_20_000_random_sets_of_shapes_go_together_as_torch_says():
    rng = Random(20261123)  # noqa: S311  a seeded test
    found = {True: 0, False: 0}
    for _ in range(NUM_SETS):
        shapes = random_shapes(rng)
        verdict = explain_broadcast(*shapes)
        try:
            wanted = tuple(torch.broadcast_shapes(*shapes))
        except RuntimeError:
            wanted = None
        assert (verdict.shape if verdict.ok else None) == wanted, shapes
        assert verdict.ok == all(column.length is not None for column in verdict.columns)
        found[verdict.ok] += 1
    assert min(found.values()) > 1000, found


def test_a_stretched_dimension_is_one_that_expand_reads_with_stride_0():
    rng = Random(2)  # noqa: S311  a seeded test
    for _ in range(1000):
        shapes = random_shapes(rng)
        verdict = explain_broadcast(*shapes)
        for number, shape in enumerate(shapes if verdict.ok else []):
            strides = torch.empty(shape, device="meta").expand(verdict.shape).stride()
            for column, step in zip(verdict.columns, strides, strict=True):
                if column.length != 1 and column.lengths[number] != column.length:
                    assert column.stretched[number], (shapes, column)
                    assert step == 0
                else:
                    assert not column.stretched[number], (shapes, column)


def test_the_columns_in_the_way_are_named():
    verdict = explain_broadcast((2, 3, 4), (3, 5), (7, 1, 1))
    assert [column.dim for column in verdict.columns if column.length is None] == [-3, -1]
    assert [column.lengths for column in verdict.columns] == [(2, None, 7), (3, 3, 1), (4, 5, 1)]
    assert explain_broadcast() == explain_broadcast(())


def random_factors(rng):
    batch = [rng.choice([0, 1, 2, 3]) for _ in range(rng.randint(0, 2))]
    inner = rng.choice([0, 1, 3, 4])
    left = [*random_part(rng, batch), *[rng.choice([0, 1, 5])] * (rng.random() < 0.8), inner]
    right = [inner if rng.random() < 0.8 else 2]
    if rng.random() < 0.8:
        right = [*random_part(rng, batch), *right, rng.choice([0, 1, 6])]
    return tuple(left), tuple(right) if rng.random() < 0.97 else ()


def random_part(rng, batch):
    part = batch[rng.randint(0, len(batch)) :]
    return [rng.choice([1, length, length, 5 if rng.random() < 0.1 else length]) for length in part]


def test_products_have_the_shapes_that_torch_gives_them():
    rng = Random(20261123)  # noqa: S311  a seeded test
    found = {True: 0, False: 0}
    for _ in range(NUM_PRODUCTS):
        left, right = random_factors(rng)
        verdict = matmul_shape(left, right)
        try:
            x, y = torch.empty(left, device="meta"), torch.empty(right, device="meta")
            wanted = tuple(torch.matmul(x, y).shape)
        except RuntimeError:
            wanted = None
        assert (verdict.shape if verdict.ok else None) == wanted, (left, right)
        found[verdict.ok] += 1
    assert min(found.values()) > 500, found


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
