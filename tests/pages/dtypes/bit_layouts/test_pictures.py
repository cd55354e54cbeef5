import base64
import io
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from core.dtypes import FORMATS
from core.dtypes.labs import color_picture, stored_picture
from core.figures.picture import Look
from core.figures.theme import COLORS, MODES
from pages.dtypes.bit_layouts.pictures import (
    SHOWN,
    pictures_picture,
    poster_png,
    poster_svg,
)

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


def test_the_pictures_stand_in_rows_of_five_without_overlap():
    first, *_rest, fifth, sixth = drawn().figure.layout.images
    assert first.x + first.sizex < fifth.x
    assert sixth.x == first.x
    assert sixth.y < first.y - first.sizey


def test_a_pixel_that_overflowed_shows_the_colour_of_overflow():
    image = seen(drawn(2.0**17).figure.layout.images[1].source)
    warning = COLORS["light"]["overflow"]
    color = [int(warning[at : at + 2], 16) for at in (1, 3, 5)]
    lost = ~np.isfinite(pictures(2.0**17)[1].pixels[PLACE][::SHOWN, ::SHOWN]).all(axis=-1)
    assert lost.any()
    assert (image[lost] == color).all()


def test_the_sentence_and_the_table_count_shades():
    picture, shades = drawn(), pictures()[3].num_shades
    start = "The same picture of 786,432 colour values, brightness times 1, in each format: "
    assert picture.alt.startswith(start)
    assert f"E4M3 {shades} shades" in picture.alt
    assert picture.table["format"] == list(NAMES)


def test_the_svg_poster_has_every_pixel_of_every_format_and_says_which():
    text = poster_svg(pictures(), PLACE, "Ten <formats>", Look())
    root = ET.fromstring(text)  # noqa: S314  our own text
    images = [each for each in root if each.tag.endswith("image")]
    assert len(images) == len(NAMES)
    assert seen(images[0].get("href")).shape == (512, 512, 3)
    words = "".join(root.itertext())
    assert "Ten <formats>" in words
    assert "E4M3" in words
    assert re.search(r"[0-9.]+ dB", words)
    width, height = int(root.get("width")), int(root.get("height"))
    corners = [(int(each.get("x")), int(each.get("y"))) for each in images]
    assert all(x + 512 <= width and y + 512 <= height for x, y in corners)


def test_the_png_poster_has_every_pixel_of_every_format_in_its_place():
    svg = ET.fromstring(poster_svg(pictures(), PLACE, "", Look()))  # noqa: S314  our own
    poster = np.asarray(Image.open(io.BytesIO(poster_png(pictures(), PLACE, Look()))))
    assert poster.shape[:2] == (int(svg.get("height")), int(svg.get("width")))
    for each in svg:
        if each.tag.endswith("image"):
            x, y = int(each.get("x")), int(each.get("y"))
            np.testing.assert_array_equal(poster[y : y + 512, x : x + 512], seen(each.get("href")))
