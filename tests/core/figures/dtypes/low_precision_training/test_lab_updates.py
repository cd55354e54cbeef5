import numpy as np
import pytest

from core.dtypes import FORMATS
from core.dtypes.labs import weight_updates
from core.figures.dtypes.low_precision_training.lab_updates import (
    updates_alt,
    updates_figure,
    updates_table,
)
from core.figures.theme import MODES

BF16 = FORMATS["bfloat16"]
WAYS = {
    "nearest": weight_updates(1.0, 1e-3, 1000, BF16),
    "stochastic": weight_updates(1.0, 1e-3, 1000, BF16, "stochastic", rng=np.random.default_rng(0)),
    "master": weight_updates(1.0, 1e-3, 1000, BF16, master=True),
}


@pytest.mark.parametrize("mode", MODES)
def test_each_way_is_a_line_of_its_own_look(mode):
    true, nearest, stochastic, master = updates_figure(WAYS, "master", mode).data
    assert (nearest.y[-1], master.y[-1]) == (1.0, 2.0)
    assert true.y[-1] == pytest.approx(2.0)
    assert 1.5 < stochastic.y[-1] < 2.5
    assert master.line.width > nearest.line.width
    assert len({each.line.dash for each in (true, nearest, stochastic, master)}) == 4


def test_the_sentence_says_where_each_way_ends():
    alt = updates_alt(WAYS)
    assert "after 1,000 updates should be 2." in alt
    assert "stored, rounded to nearest: 1;" in alt
    assert alt.endswith("copied from an FP32 master: 2.")


def test_the_table_ends_with_the_last_step():
    table = updates_table(WAYS)
    assert table["step"][-1] == 1000
    assert table["copied from an FP32 master"][-1] == "2"
