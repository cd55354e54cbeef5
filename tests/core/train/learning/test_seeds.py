import random
from dataclasses import replace

import pytest
import torch

from core.train.learning.seeds import USES, Seeds, first_difference, losses_of

SEEDS = Seeds(random=1, numpy=2, torch=3)


def test_the_same_three_seeds_give_the_same_losses_bit_for_bit():
    assert first_difference(losses_of(SEEDS, 40), losses_of(SEEDS, 40)) is None


@pytest.mark.parametrize("use", USES)
def test_one_other_seed_changes_the_curve(use):
    other = losses_of(replace(SEEDS, **{use: 99}), 40)
    assert first_difference(losses_of(SEEDS, 40), other) == 0


def test_the_global_generators_are_left_alone():
    before = random.getstate(), torch.get_rng_state().tolist()
    losses_of(SEEDS, 3)
    assert (random.getstate(), torch.get_rng_state().tolist()) == before
