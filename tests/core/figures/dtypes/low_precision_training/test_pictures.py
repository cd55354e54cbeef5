import numpy as np
import pytest

from core.dtypes import FORMATS
from core.dtypes.labs import analytic_picture, stored_picture
from core.figures.dtypes.low_precision_training.pictures import pictures_picture
from core.figures.picture import Look
from core.figures.theme import COLORS, MODES

NAMES = ("float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8")


def pictures(exposure=1.0):
    return [stored_picture(analytic_picture(), FORMATS[name], exposure) for name in NAMES]


@pytest.mark.parametrize("mode", MODES)
def test_each_format_has_its_own_picture_and_its_name(mode):
    figure = pictures_picture(pictures(), "float16", Look(mode=mode)).figure
    for trace, picture in zip(figure.data, pictures(), strict=True):
        np.testing.assert_allclose(trace.z, picture.pixels, rtol=1e-6)
    texts = [each.text for each in figure.layout.annotations]
    assert texts[3] == f"<b>E4M3</b> · {pictures()[3].num_shades} shades"
    framed = [shape.line.width > 0 for shape in figure.layout.shapes]
    assert framed == [name == "float16" for name in NAMES]


def test_the_pictures_stand_in_rows_of_five_without_overlap():
    layout = pictures_picture(pictures(), "float16", Look()).figure.layout
    first, fifth, sixth = layout.xaxis.domain, layout.xaxis5.domain, layout.xaxis6.domain
    assert first[1] < fifth[0]
    assert sixth == first
    assert layout.yaxis6.domain[1] < layout.yaxis.domain[0]


def test_a_pixel_that_overflowed_shows_the_ground_in_the_colour_of_overflow():
    figure = pictures_picture(pictures(2.0**17), "float16", Look()).figure
    assert np.isnan(figure.data[1].z).sum() == pictures(2.0**17)[1].num_lost > 0
    assert figure.layout.shapes[1].fillcolor == COLORS["light"]["overflow"]


def test_the_sentence_and_the_table_count_shades():
    picture = pictures_picture(pictures(), "float16", Look())
    start = "The same picture of 4,096 pixels, brightness times 1, in each format: "
    assert picture.alt.startswith(start)
    assert "E4M3 42 shades" in picture.alt
    assert picture.table["format"] == list(NAMES)
