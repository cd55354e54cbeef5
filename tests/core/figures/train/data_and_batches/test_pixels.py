"""What normalization makes of a pixel."""

import pytest

from core.figures.picture import Look
from core.figures.train.data_and_batches.pixels import pixels_picture


def test_black_the_chosen_pixel_and_white_are_marked():
    marks = pixels_picture(128, Look()).figure.data[1]
    assert marks.x == (0, 128, 255)
    assert marks.y == pytest.approx([(p / 255 - 0.1307) / 0.3081 for p in (0, 128, 255)])
