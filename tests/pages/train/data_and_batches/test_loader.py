"""The timeline of a loader."""

import pytest

from core.figures.picture import Look
from core.train.start.loader_speed import LoaderTiming
from pages.train.data_and_batches.loader import loader_picture

TIMING = LoaderTiming(
    num_workers=1, prefetch_factor=2, wait_seconds=(0.1, 0.0), step_seconds=(0.2, 0.3),
    item_seconds=0.01, first_seconds=1.0,
)  # fmt: skip


def test_a_step_begins_when_its_batch_is_there():
    wait, step = loader_picture([TIMING], Look()).figure.data
    assert wait.base == pytest.approx((0, 300))
    assert step.base == pytest.approx((100, 300))
    assert step.x == pytest.approx((200, 300))


def test_the_sentence_says_how_much_of_the_time_was_waiting():
    assert TIMING.waited == pytest.approx(1 / 6)
    assert "num_workers=1: 600 ms for 2 steps, 16.7 %" in loader_picture([TIMING], Look()).alt
