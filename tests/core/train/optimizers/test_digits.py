"""The classifier of digits."""

import numpy as np
import pytest

from core.train.optimizers.digits import NUM_TEST, SIDE, classify, draw_digits
from core.train.optimizers.loop import USUAL


def test_the_images_of_a_seed_are_always_the_same_and_hold_every_digit():
    one, again, other = draw_digits(200, 1), draw_digits(200, 1), draw_digits(200, 2)
    assert one.images.shape == (200, SIDE, SIDE)
    assert np.array_equal(one.images, again.images)
    assert not np.array_equal(one.images, other.images)
    assert set(one.labels.tolist()) == set(range(10))


def test_a_classifier_learns_digits_that_it_has_not_seen():
    found = classify(USUAL, 5, 0.03)
    assert len(found.training) == len(found.test) == 6
    assert found.test[0] < 0.2
    assert 0.9 < found.test[-1] < found.training[-1]
    labels = draw_digits(NUM_TEST, 1).labels
    assert np.mean(np.array(found.guesses) == labels) == pytest.approx(found.test[-1])


def test_without_zero_grad_it_learns_less_and_without_step_nothing():
    assert classify(("forward", "loss", "backward", "step"), 2, 0.03).test[-1] < 0.6
    still = classify(("forward", "loss", "zero_grad", "backward"), 2, 0.03)
    assert len(set(still.test)) == 1


def test_an_order_that_fails_keeps_torchs_words():
    found = classify(("forward", "zero_grad", "backward", "loss", "step"), 2, 0.03)
    assert found.error.startswith("NameError: ")
    assert len(found.test) == 1
