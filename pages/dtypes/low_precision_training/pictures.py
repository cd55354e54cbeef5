"""The lab of pictures: one picture as every format gives it back."""

from typing import Final

import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.labs import StoredPicture, analytic_picture, stored_picture
from core.figures.dtypes.low_precision_training.pictures import pictures_picture
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
from core.dtypes.labs import analytic_picture, stored_picture

picture = stored_picture(analytic_picture(), FORMATS[{name!r}], 2.0**{power})
print(picture.num_shades, picture.sqnr_db, picture.num_lost)
"""


@st.cache_data(max_entries=len(POWERS), show_spinner=False)
def computed(power: int) -> tuple[StoredPicture, ...]:
    """Return the picture in every format."""
    picture = analytic_picture()
    return tuple(stored_picture(picture, FORMATS[name], 2.0**power) for name in NAMES)


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
    return Shown(
        headline=sentence(next(each for each in stored if each.format == name)),
        charts=[Chart(picture=pictures_picture(stored, name, look()), file_name="pictures")],
        code=CODE.format(name=name, power=power),
    )


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
            "{format} keeps {shades} shade of {pixels} pixels: SQNR {ratio} dB.",
            "{format} keeps {shades} shades of {pixels} pixels: SQNR {ratio} dB.",
            picture.num_shades,
        )
    return text.format(**words)
