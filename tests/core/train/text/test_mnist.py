import pytest
import torch
from torch.utils.data import DataLoader

from core.train.text.mnist import (
    DEVIATION,
    MEAN,
    batches_of_an_epoch,
    normalized,
    steps_of_training,
)


def test_pixels_are_normalized_as_torch_does_it():
    pixels = torch.arange(256, dtype=torch.float64) / 255
    wanted = pixels.sub(MEAN).div(DEVIATION).tolist()
    assert [normalized(pixel).amount for pixel in range(256)] == pytest.approx(wanted)
    assert (round(wanted[0], 4), round(wanted[255], 4)) == (-0.4242, 2.8215)


@pytest.mark.parametrize("batch_size", [1, 32, 64, 1000, 60_000])
def test_batches_are_those_of_a_loader(batch_size):
    for drop in (False, True):
        loader = DataLoader(range(60_000), batch_size, drop_last=drop)
        assert batches_of_an_epoch(batch_size, drop_last=drop).amount == len(loader)


def test_five_epochs_of_938_batches_are_4690_steps():
    assert steps_of_training(938, 5).amount == 4690
