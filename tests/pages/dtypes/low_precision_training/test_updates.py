import numpy as np
import pytest

from core.dtypes import FORMATS
from core.dtypes.labs.weight_updates import stochastic_updates, weight_updates
from core.figures.picture import Look
from core.figures.theme import MODES
from pages.dtypes.low_precision_training.updates import stochastic_picture, updates_picture

BF16 = FORMATS["bfloat16"]
WAYS = {
    "nearest": weight_updates(1.0, 1e-3, 1000, BF16),
    "stochastic": weight_updates(1.0, 1e-3, 1000, BF16, "stochastic", rng=np.random.default_rng(0)),
    "master": weight_updates(1.0, 1e-3, 1000, BF16, master=True),
}
MANY = stochastic_updates(1.0, 1e-3, 200, BF16, 50, np.random.default_rng(0))


@pytest.mark.parametrize("mode", MODES)
def test_each_way_is_a_line_of_its_own_look(mode):
    true, nearest, stochastic, master = updates_picture(WAYS, "master", Look(mode=mode)).figure.data
    assert (nearest.y[-1], master.y[-1]) == (1.0, 2.0)
    assert true.y[-1] == pytest.approx(2.0)
    assert 1.5 < stochastic.y[-1] < 2.5
    assert master.line.width > nearest.line.width
    assert len({each.line.dash for each in (true, nearest, stochastic, master)}) == 4


@pytest.mark.parametrize("mode", MODES)
def test_the_mean_lies_inside_the_band_and_nearest_below(mode):
    figure = stochastic_picture(MANY, Look(mode=mode)).figure
    low, high, *paths, nearest, mean, exact = figure.data
    assert low.y[-1] <= mean.y[-1] <= high.y[-1]
    assert nearest.y[-1] == 1.0
    assert exact.y[-1] == pytest.approx(1.2)
    assert len(paths) == 8
    assert [path.showlegend for path in paths].count(True) == 1
    assert high.fill == "tonexty"
