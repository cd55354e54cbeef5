"""The lab of pictures: one picture as every format gives it back."""

from typing import Final

import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.labs import StoredPicture, analytic_picture, stored_picture
from core.figures.dtypes.lab_frame import number, short
from core.figures.dtypes.low_precision_training.lab_pictures import (
    pictures_alt,
    pictures_figure,
    pictures_table,
)
from core.language import _, ngettext
from pages.dtypes.low_precision_training.places import PAGE, lab_places, power_of_two
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

NAMES: Final = (
    *("float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
    *("float6_e2m3fn", "float4_e2m1fn", "int8", "int4", "nf4"),
)
POWERS: Final = range(-24, 25)
CODE: Final = """
from core.dtypes import FORMATS
from core.dtypes.labs import analytic_picture, stored_picture

picture = stored_picture(analytic_picture(), FORMATS[{name!r}], 2.0**{power})
print(picture.num_shades, picture.sqnr_db, picture.num_lost)
"""


@st.cache_data(max_entries=len(POWERS), show_spinner=False)
def computed(power: int) -> tuple[StoredPicture, ...]:
    """Return the picture in every format."""
    picture = analytic_picture()
    return tuple(stored_picture(picture, FORMATS[name], 2.0**power) for name in NAMES)


def show_pictures() -> str:
    """Show the lab and return the code of its number."""
    places = lab_places()
    with places.controls:
        name = pickers.selectbox(
            PAGE, "picture_format", _("Format"), NAMES, default="float8_e4m3fn", labels=short
        )
        power = pickers.select_slider(
            PAGE,
            "picture_power",
            _("Brightness is multiplied by"),
            POWERS,
            default=0,
            labels=power_of_two,
            help=_("It is divided by the same number again before it is shown."),
        )
        st.caption(
            _("INT8, INT4 and NF4 have one scale factor for the whole picture; floats have none.")
        )
    pictures = computed(power)
    with places.headline:
        headline(sentence(next(each for each in pictures if each.format == name)))
    with places.picture:
        show_chart(
            pictures_figure(pictures, name, theme_mode(), present=presenting()),
            key="lowp_pictures",
            alt=pictures_alt(pictures),
            table=pictures_table(pictures),
            file_name="pictures",
        )
    return CODE.format(name=name, power=power)


def sentence(picture: StoredPicture) -> str:
    """Return how many shades are left, and how far they are from the truth."""
    words = {
        "format": short(picture.format),
        "shades": f"{picture.num_shades:,}",
        "pixels": f"{picture.pixels.size:,}",
        "ratio": number(picture.sqnr_db, 3),
        "lost": f"{picture.num_lost:,}",
    }
    if picture.num_lost:
        text = ngettext(
            "{format} keeps {shades} shade; {lost} of {pixels} pixels became 0, inf or NaN.",
            "{format} keeps {shades} shades; {lost} of {pixels} pixels became 0, inf or NaN.",
            picture.num_shades,
        )
    else:
        text = ngettext(
            "{format} keeps {shades} shade of {pixels} pixels: {ratio} dB above the error.",
            "{format} keeps {shades} shades of {pixels} pixels: {ratio} dB above the error.",
            picture.num_shades,
        )
    return text.format(**words)
