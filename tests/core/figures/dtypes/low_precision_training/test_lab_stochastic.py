import numpy as np
import pytest

from core.dtypes import FORMATS
from core.dtypes.labs import stochastic_updates
from core.figures.dtypes.low_precision_training.lab_stochastic import (
    stochastic_alt,
    stochastic_figure,
    stochastic_table,
)
from core.figures.theme import MODES

MANY = stochastic_updates(1.0, 1e-3, 200, FORMATS["bfloat16"], 50, np.random.default_rng(0))


@pytest.mark.parametrize("mode", MODES)
def test_the_mean_lies_inside_the_band_and_nearest_below(mode):
    low, high, *paths, nearest, mean, exact = stochastic_figure(MANY, mode).data
    assert low.y[-1] <= mean.y[-1] <= high.y[-1]
    assert nearest.y[-1] == 1.0
    assert exact.y[-1] == pytest.approx(1.2)
    assert len(paths) == 8
    assert [path.showlegend for path in paths].count(True) == 1
    assert high.fill == "tonexty"


def test_the_sentence_and_the_table_end_where_the_weights_do():
    assert stochastic_alt(MANY).startswith("50 weights in bfloat16, rounded stochastically, end at")
    table = stochastic_table(MANY)
    assert table["step"][-1] == 200
    assert table["rounded to nearest"][-1] == "1"
