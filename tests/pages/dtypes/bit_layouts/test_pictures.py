import base64
import io

import numpy as np
import pytest
from PIL import Image

from core.dtypes import FORMATS
from core.dtypes.labs.picture import color_picture, stored_picture
from core.figures.picture import Look
from core.figures.theme import COLORS, MODES
from pages.dtypes.bit_layouts.pictures import SHOWN, pictures_picture

NAMES = ("float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8")
LEVELS, PLACE, COUNTS = np.unique(color_picture(), return_inverse=True, return_counts=True)


def pictures(exposure=1.0):
    return [stored_picture(LEVELS, FORMATS[name], exposure, COUNTS) for name in NAMES]


def seen(address):
    head, data = address.split(",")
    assert head == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))


def drawn(exposure=1.0, mode="light"):
    return pictures_picture(pictures(exposure), PLACE, "float16", Look(mode=mode))


@pytest.mark.parametrize("mode", MODES)
def test_each_format_has_its_own_picture_and_its_name(mode):
    figure = drawn(mode=mode).figure
    assert len(figure.layout.images) == len(NAMES)
    for image, picture in zip(figure.layout.images, pictures(), strict=True):
        expected = picture.pixels[PLACE][::SHOWN, ::SHOWN]
        assert np.abs(seen(image.source) / 255 - np.clip(expected, 0, 1)).max() <= 0.5 / 255 + 1e-9
    texts = [each.text for each in figure.layout.annotations]
    assert texts[3] == f"<b>E4M3</b> · {pictures()[3].num_shades} shades"
    framed = [shape.line.width > 0 for shape in figure.layout.shapes]
    assert framed == [name == "float16" for name in NAMES]


def test_a_pixel_that_overflowed_shows_the_colour_of_overflow():
    image = seen(drawn(2.0**17).figure.layout.images[1].source)
    warning = COLORS["light"]["overflow"]
    color = [int(warning[at : at + 2], 16) for at in (1, 3, 5)]
    lost = ~np.isfinite(pictures(2.0**17)[1].pixels[PLACE][::SHOWN, ::SHOWN]).all(axis=-1)
    assert lost.any()
    assert (image[lost] == color).all()
