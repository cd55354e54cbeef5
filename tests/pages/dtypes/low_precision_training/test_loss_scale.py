import numpy as np
import pytest

from core.dtypes import FORMATS
from core.dtypes.labs import gradient_histogram, loss_scale_bands
from core.figures.picture import Look
from core.figures.theme import COLORS, MODES
from pages.dtypes.low_precision_training.loss_scale import (
    BANDS,
    band_counts,
    loss_scale_picture,
)

HISTOGRAM = gradient_histogram([1e-9, 1e-6, 1e-6, 1.0])
FP16 = FORMATS["float16"]


def drawn(scale=1.0, histogram=HISTOGRAM, fmt=FP16, mode="light"):
    return loss_scale_picture(histogram, loss_scale_bands(histogram, fmt, scale), Look(mode=mode))


def rectangles(figure):
    return [(shape.x0, shape.x1) for shape in figure.layout.shapes]


@pytest.mark.parametrize("mode", MODES)
def test_a_scale_moves_the_bands_and_not_the_bars(mode):
    small, large = (drawn(scale, mode=mode).figure for scale in (1.0, 256.0))
    np.testing.assert_array_equal(small.data[0].x, large.data[0].x)
    np.testing.assert_array_equal(small.data[0].y, large.data[0].y)
    assert rectangles(small)[1][0] == -25
    assert rectangles(large)[1][0] == -33
    assert {shape.fillcolor for shape in small.layout.shapes} <= set(COLORS[mode].values())


def test_bars_wear_the_colour_and_the_hatching_of_their_band():
    bars = drawn().figure.data[0]
    first, last = bars.marker.color[0], bars.marker.color[-1]
    assert first == COLORS["light"]["underflow"]
    assert last == COLORS["light"]["exact"]
    assert bars.marker.pattern.shape[0] != bars.marker.pattern.shape[-1]
    assert bars.marker.pattern.fillmode == "overlay"


def test_every_band_says_its_share():
    texts = [each.text for each in drawn().figure.layout.annotations]
    assert texts[1] == "subnormal<br><b>50 %</b>"
    assert len(texts) == len(BANDS)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("power", [0, 32])
def test_bands_beyond_the_picture_are_left_out(name, power):
    figure = drawn(2.0**power, fmt=FORMATS[name]).figure
    assert all(left < right for left, right in rectangles(figure))


def test_gradients_that_are_all_zero_have_a_picture():
    assert drawn(histogram=gradient_histogram([0.0, 0.0])).figure.data[0].y.sum() == 0


def test_the_sentence_and_the_table_count_every_band():
    picture = drawn(65536.0)
    counts = band_counts(loss_scale_bands(HISTOGRAM, FP16, 65536.0))
    assert counts == (0, 0, 3, 1)
    assert picture.alt.startswith("Of 4 gradients times 65,536 in FP16: ")
    assert picture.table["gradients"] == [f"{count:,}" for count in counts]
