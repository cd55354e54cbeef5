"""The lab of pictures: one picture as every format gives it back."""

from functools import partial
from typing import Final

import numpy as np
import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.labs import StoredPicture, color_picture, stored_picture
from core.dtypes.labs.picture import Counts
from core.dtypes.rounding import Floats
from core.figures.dtypes.low_precision_training.pictures import (
    Place,
    pictures_picture,
    poster_png,
    poster_svg,
)
from core.figures.dtypes.written import number, power_of_two, short
from core.language import _, ngettext
from pages.dtypes.low_precision_training.inputs import ASK
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

NAMES: Final = (
    *("float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
    *("float6_e2m3fn", "float4_e2m1fn", "int8", "int4", "nf4"),
)
POWERS: Final = range(-24, 25)
CODE: Final = """
from core.dtypes import FORMATS
from core.dtypes.labs import color_picture, stored_picture

picture = stored_picture(color_picture(), FORMATS[{name!r}], 2.0**{power})
print(picture.num_shades, picture.sqnr_db, picture.num_lost)
"""


@st.cache_resource(show_spinner=False)
def scene() -> tuple[Floats, Place, Counts]:
    """Return the levels of the picture, which of them each colour is, and how often each occurs."""
    levels, place, counts = np.unique(color_picture(), return_inverse=True, return_counts=True)
    return levels, place, counts


@st.cache_data(max_entries=8, show_spinner=False)
def computed(power: int) -> tuple[StoredPicture, ...]:
    """Return the levels of the picture in every format."""
    levels, _place, counts = scene()
    return tuple(stored_picture(levels, FORMATS[name], 2.0**power, counts) for name in NAMES)


def choose_pictures() -> tuple[str, int]:
    """Show the inputs of the lab; return the format that is spoken of, and a power of two."""
    power = ASK.select_slider(
        "picture_power",
        _("Exposure"),
        POWERS,
        default=0,
        labels=power_of_two,
        help=_("Multiplies the brightness; it is divided out again before the picture is shown."),
    )
    name = ASK.selectbox(
        "picture_format", _("Number format"), NAMES, default="float8_e4m3fn", labels=short
    )
    st.caption(
        _("INT8, INT4 and NF4 have one scale factor for the whole picture; floats have none.")
    )
    return name, power


def pictures(asked: tuple[str, int]) -> Shown:
    """Show the picture in every format."""
    name, power = asked
    stored = computed(power)
    picture = pictures_picture(stored, scene()[1], name, look())
    return Shown(
        headline=sentence(next(each for each in stored if each.format == name)),
        charts=[Chart(picture=picture, file_name="pictures")],
        below=partial(_offer_posters, power),
        code=CODE.format(name=name, power=power),
    )


def _offer_posters(power: int) -> None:
    """Offer all formats in full size, made at the click."""
    title = _("One picture, {count} number formats").format(count=len(NAMES))
    seen = look()
    with st.container(horizontal=True, key="lowp_posters"):
        st.download_button(
            _("Poster (PNG)"),
            lambda: poster_png(computed(power), scene()[1], seen),
            "picture-in-ten-formats.png",
            "image/png",
            key="lowp_poster_png",
            icon=":material/download:",
            on_click="ignore",
        )
        st.download_button(
            _("Poster (SVG)"),
            lambda: poster_svg(computed(power), scene()[1], title, seen),
            "picture-in-ten-formats.svg",
            "image/svg+xml",
            key="lowp_poster_svg",
            icon=":material/download:",
            on_click="ignore",
        )


def sentence(picture: StoredPicture) -> str:
    """Return how many shades are left, and how far they are from the truth."""
    words = {
        "format": short(picture.format),
        "shades": f"{picture.num_shades:,}",
        "values": f"{picture.num_values:,}",
        "ratio": number(picture.sqnr_db, 3),
        "lost": f"{picture.num_lost:,}",
    }
    if picture.num_lost:
        text = ngettext(
            "{format} keeps {shades} shade; {lost} of {values} colour values became 0, inf or NaN.",
            "{format} keeps {shades} shades; {lost} of {values} colour values became 0, inf or "
            "NaN.",
            picture.num_shades,
        )
    else:
        text = ngettext(
            "{format} keeps {shades} shade of {values} colour values: SQNR {ratio} dB.",
            "{format} keeps {shades} shades of {values} colour values: SQNR {ratio} dB.",
            picture.num_shades,
        )
    return text.format(**words)
