import pytest

from core.dtypes import FORMATS
from core.dtypes.labs.softmax import softmax
from core.figures.picture import Look
from core.figures.theme import COLORS, MODES
from pages.dtypes.low_precision_training.softmax import softmax_picture

FP16 = FORMATS["float16"]


def drawn(largest, fmt=FP16, mode="light"):
    logits = [largest, largest - 1, largest - 2]
    ways = (softmax(logits, fmt, stable=stable) for stable in (False, True))
    return softmax_picture(*ways, Look(mode=mode))


@pytest.mark.parametrize("mode", MODES)
def test_an_infinite_exponential_breaks_through_the_ceiling_and_says_inf(mode):
    bars, ceiling, exact, naive, stable = drawn(11.1, mode=mode).figure.data
    assert bars.y[0] > FP16.max > bars.y[1]
    assert bars.text[0] == "inf"
    assert bars.marker.color[0] == COLORS[mode]["overflow"] != bars.marker.color[1]
    assert bars.marker.pattern.shape[:2] == ("x", "")
    assert ceiling.y == (FP16.max,) * 3
    assert ceiling.name == "largest FP16: 65,504"
    assert naive.text[0] == "NaN"
    assert naive.y[0] == 0
    assert stable.y[0] == pytest.approx(exact.y[0], abs=1e-3)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("largest", [-20.0, 0.0, 100.0])
def test_extremes_can_be_drawn_in_every_format(name, largest):
    picture = drawn(largest, FORMATS[name])
    assert len(picture.figure.data) == 5
    assert len(picture.alt) > 40


def test_the_sentence_and_the_table_hold_every_intermediate():
    picture = drawn(11.1)
    assert picture.alt == (
        "exp(11.1016) in FP16 is inf. The naive softmax gives NaN for that logit; after "
        "subtracting the maximum it gives 0.665; exact is 0.6652."
    )
    assert picture.table["exp(x)"][0] == "inf"
    assert picture.table["exp(x - max)"][0] == "1"
    assert {len(column) for column in picture.table.values()} == {3}
