"""A saved poster, read from its files alone."""

import io
import re
import xml.etree.ElementTree as ET

from PIL import Image

SVG = "{http://www.w3.org/2000/svg}"
WIDTH, HEIGHT = 1600, 900


def saved(page, kind, tmp_path):
    """Choose a format in the menu; return the bytes of the file and its name."""
    menu = page.locator("details:has(> button[data-kind])").first
    if menu.get_attribute("open") is None:
        menu.locator("summary").click()
    with page.expect_download() as started:
        page.locator(f"button[data-kind={kind}]").first.click()
    path = tmp_path / f"poster.{kind}"
    started.value.save_as(path)
    return path.read_bytes(), started.value.suggested_filename


def parsed(content):
    """Return the words of each of the poster's own texts, and those of the picture."""
    root = ET.fromstring(content)  # noqa: S314  a file of our own
    own = {}
    for text in root.findall(f"{SVG}text"):
        lines = ["".join(each.itertext()) for each in text]
        own.setdefault(text.get("class").removeprefix("poster-"), []).append(lines)
    drawn = ["".join(each.itertext()) for each in picture_of(root).iter(f"{SVG}text")]
    return root, own, drawn


def squeezed(text):
    return re.sub(r"\s", "", text)


def modules(png, root, size):
    """Return whether each module of the code is dark, as a phone would look at the picture."""
    picture = Image.open(io.BytesIO(png)).convert("L")
    place = root.find(f"{SVG}g[@class='poster-code']").get("transform")
    left, top, step = (2 * float(number) for number in re.findall(r"[\d.]+", place))
    at = [(place + 4.5) * step for place in range(size)]
    return [[picture.getpixel((left + x, top + y)) < 128 for x in at] for y in at]


def picture_of(root):
    """Return the part of the poster that holds the picture."""
    return root.find(f"{SVG}svg[@class='poster-picture']")


def count_of_class(root, name):
    """Return how many elements of the picture bear a class."""
    return sum(name in each.get("class", "").split() for each in picture_of(root).iter())


def colors_in_picture(png, root):
    """Return how many pixels of the picture's place have each colour."""
    picture = picture_of(root)
    left, top, width, height = (
        2 * float(picture.get(each)) for each in ("x", "y", "width", "height")
    )
    place = Image.open(io.BytesIO(png)).convert("RGB").crop((left, top, left + width, top + height))
    return {color: count for count, color in place.getcolors(maxcolors=1 << 24)}
