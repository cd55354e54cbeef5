import pytest

from core.dtypes import FORMATS
from core.dtypes.labs.matmul import matmul, normal_matrices
from core.figures.picture import Look
from core.figures.theme import MODES
from pages.dtypes.low_precision_training.matmul import matmul_picture

DEPTHS = (16, 64, 256)
CURVES = tuple(
    matmul(*normal_matrices(256), FORMATS["bfloat16"], FORMATS[name], 1, DEPTHS)
    for name in ("float32", "bfloat16")
)


@pytest.mark.parametrize("mode", MODES)
def test_each_accumulator_is_a_line_over_the_depths(mode):
    wide, narrow = matmul_picture(CURVES, "bfloat16", 64, Look(mode=mode)).figure.data
    assert wide.x == narrow.x == DEPTHS
    assert narrow.y == CURVES[1].errors
    assert narrow.line.width > wide.line.width
    assert (wide.line.dash, wide.marker.symbol) != (narrow.line.dash, narrow.marker.symbol)
