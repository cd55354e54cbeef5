import numpy as np
import pytest

from core.dtypes import FORMATS
from core.dtypes.labs.accumulate import accumulate
from core.figures.picture import Look
from core.figures.theme import MODES
from pages.dtypes.low_precision_training.sums import sums_picture

SUMS = [accumulate(np.ones(1000), FORMATS[name]) for name in ("float16", "bfloat16")]


@pytest.mark.parametrize("mode", MODES)
def test_each_format_is_a_line_that_ends_at_its_sum(mode):
    true, half, brain = sums_picture(SUMS, "bfloat16", Look(mode=mode)).figure.data
    assert (true.y[-1], half.y[-1], brain.y[-1]) == (1000, 1000, 256)
    assert brain.y[brain.x.index(256)] == 256
    assert (half.name, brain.name) == ("FP16", "BF16")
    assert brain.line.width > half.line.width
    assert len({each.line.dash for each in (true, half, brain)}) == 3


def test_an_arrow_marks_where_the_chosen_sum_stalls():
    (arrow,) = sums_picture(SUMS, "bfloat16", Look()).figure.layout.annotations
    assert (arrow.x, arrow.y, arrow.text) == (256, 256, "stalls at 256")
    assert sums_picture(SUMS, "float16", Look()).figure.layout.annotations == ()
