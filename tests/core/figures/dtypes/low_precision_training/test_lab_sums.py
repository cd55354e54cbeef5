import numpy as np
import pytest

from core.dtypes import FORMATS
from core.dtypes.labs import accumulate
from core.figures.dtypes.low_precision_training.lab_sums import sums_alt, sums_figure, sums_table
from core.figures.theme import MODES

SUMS = [accumulate(np.ones(1000), FORMATS[name]) for name in ("float16", "bfloat16")]


@pytest.mark.parametrize("mode", MODES)
def test_each_format_is_a_line_that_ends_at_its_sum(mode):
    true, half, brain = sums_figure(SUMS, "bfloat16", mode).data
    assert (true.y[-1], half.y[-1], brain.y[-1]) == (1000, 1000, 256)
    assert brain.y[brain.x.index(256)] == 256
    assert (half.name, brain.name) == ("FP16", "BF16")
    assert brain.line.width > half.line.width
    assert len({each.line.dash for each in (true, half, brain)}) == 3


def test_an_arrow_marks_where_the_chosen_sum_stalls():
    (arrow,) = sums_figure(SUMS, "bfloat16").layout.annotations
    assert (arrow.x, arrow.y, arrow.text) == (256, 256, "stalls at 256")
    assert sums_figure(SUMS, "float16").layout.annotations == ()


def test_the_sentence_and_the_table_name_the_sums():
    assert sums_alt(SUMS) == (
        "Running sums of 1,000 values. The true sum is 1,000; FP16 ends at 1,000, BF16 ends at 256."
    )
    table = sums_table(SUMS)
    assert (table["values added"][-1], table["BF16"][-1], table["FP16"][-1]) == (
        1000,
        "256",
        "1,000",
    )


def test_more_sums_than_lines_that_differ_are_refused():
    with pytest.raises(ValueError, match="Choose 1 to 4 sums to compare, not 5"):
        sums_figure(SUMS[:1] * 5, "float16")
