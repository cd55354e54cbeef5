"""Masks in an index against torch."""

from random import Random

import pytest
import torch

from core.expressions.read_indices import read_by, with_coordinates

INDICES = [
    torch.tensor([True, False, True, True]),
    (slice(None), torch.tensor([False] * 5 + [True])),
    torch.arange(24).view(4, 6) > 7,
    (None, torch.arange(24).view(4, 6) > 99, None),
    [True, False, False, True],
    ([True, True, False, False], torch.tensor([[0], [3]])),
    torch.tensor(True),
    (torch.tensor(False), 0),
    (torch.tensor(2), torch.tensor([1, 2])),
    (..., torch.tensor(-1)),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_coordinates_take_what_the_mask_takes(index):
    x = torch.arange(24.0).view(4, 6)
    assert torch.equal(x[with_coordinates(index)], x[index])
    assert read_by(index)


def test_random_masks_and_integers_beside_them_take_the_same():
    rng = Random(5)  # noqa: S311  a seeded test
    x = torch.arange(120.0).view(2, 3, 4, 5)
    for _ in range(300):
        dim = rng.randrange(4)
        mask = torch.tensor([rng.random() < 0.5 for _ in range(x.shape[dim])])
        whole = [slice(None), 0, torch.tensor([[0], [1]]), torch.tensor(1)]
        index = tuple(mask if each == dim else rng.choice(whole) for each in range(4))
        assert torch.equal(x[with_coordinates(index)], x[index]), index


@pytest.mark.parametrize("index", [0, slice(None), None, ..., [0, 1], torch.tensor([0, 1]), (0, 1)])
def test_other_indices_are_left_as_they_are(index):
    assert read_by(index) == []
    assert with_coordinates(index) == (index if type(index) is tuple else (index,))
