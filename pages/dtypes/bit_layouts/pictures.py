"""One picture as every format gives it back, side by side."""

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.labs.picture import Counts, StoredPicture, color_picture, stored_picture
from core.dtypes.rounding import Floats
from core.figures.dtypes.written import number, power_of_two, short
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _, ngettext
from pages.dtypes.bit_layouts.inputs import ASK
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

if TYPE_CHECKING:
    from PIL.Image import Image

NAMES: Final = (
    *("float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
    *("float6_e2m3fn", "float4_e2m1fn", "int8", "int4", "nf4"),
)
POWERS: Final = range(-24, 25)
_CODE: Final = """
from core.dtypes import FORMATS
from core.dtypes.labs.picture import color_picture, stored_picture

picture = stored_picture(color_picture(), FORMATS[{name!r}], 2.0**{power})
print(picture.num_shades, picture.sqnr_db, picture.num_lost)
"""
NUM_COLUMNS: Final = 5
PRESENT_PICTURES_PX: Final = 330  # the pictures are narrower there, and stay square
SHOWN: Final = 3  # one pixel of so many rows and columns is shown on the page
Place = npt.NDArray[np.intp]  # (rows, columns, 3): which of the levels a pixel's colour is
_GAP: Final = 0.015
_TITLE: Final = 0.14  # of the height of a row, for the words above a picture
HEIGHT_PX: Final = 370


@st.cache_resource(show_spinner=False)
def _scene() -> tuple[Floats, Place, Counts]:
    levels, place, counts = np.unique(color_picture(), return_inverse=True, return_counts=True)
    return levels, place, counts


@st.cache_data(max_entries=8, show_spinner=False)
def _computed(power: int) -> tuple[StoredPicture, ...]:
    levels, _place, counts = _scene()
    return tuple(stored_picture(levels, FORMATS[name], 2.0**power, counts) for name in NAMES)


def choose_pictures() -> tuple[str, int]:
    """Show the inputs of the lab; return the format that is spoken of, and a power of two."""
    power = ASK.select_slider(
        "exposure",
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
    name, power = asked
    stored = _computed(power)
    picture = pictures_picture(stored, _scene()[1], name, look())
    return Shown(
        headline=sentence(next(each for each in stored if each.format == name)),
        charts=[Chart(picture=picture, file_name="pictures")],
        code=_CODE.format(name=name, power=power),
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


def pictures_picture(
    pictures: Sequence[StoredPicture], place: Place, chosen: str, look: Look
) -> Picture:
    """Return one small picture a format; what overflowed shows the colour of overflow."""
    drawing = Drawing()
    layout = look.layout() | {
        "height": PRESENT_PICTURES_PX if look.present else HEIGHT_PX,
        "margin": {"l": 0, "r": 0, "t": 4, "b": 0},
        "xaxis": {"visible": False, "fixedrange": True, "range": [0, 1]},
        "yaxis": {"visible": False, "fixedrange": True, "range": [0, 1]},
        "images": [],
    }
    small = np.ascontiguousarray(place[::SHOWN, ::SHOWN])
    for nth, picture in enumerate(pictures):
        x, y = _domain(nth, len(pictures))
        framed = {"color": look.color("accent"), "width": 8}
        drawing.shape(
            type="rect", xref="paper", yref="paper", layer="below",
            x0=x[0], x1=x[1], y0=y[0], y1=y[1],
            line=framed if picture.format == chosen else {"width": 0},
        )  # fmt: skip
        _draw_words(drawing, picture, (x[0], y[1]), look)
        layout["images"].append(
            {
                "source": _address(_image(picture, small, look)),
                "xref": "paper", "yref": "paper", "x": x[0], "y": y[1],
                "sizex": x[1] - x[0], "sizey": y[1] - y[0], "sizing": "stretch",
            }
        )  # fmt: skip
    drawing.scatter(x=[0.5], y=[0.5], mode="markers", marker={"opacity": 0}, hoverinfo="skip")
    figure = drawing.figure(layout)
    return Picture(figure=figure, alt=_sentence(pictures), table=_table(pictures))


def _image(picture: StoredPicture, place: Place, look: Look) -> "Image":
    from PIL import Image

    seen = np.nan_to_num(np.clip(picture.pixels, 0, 1), nan=1.0, posinf=1.0)
    colors = np.rint(255 * seen).astype(np.uint8)[place]
    is_finite = np.isfinite(picture.pixels)
    if not is_finite.all():
        warning = look.color("overflow")
        is_lost = ~is_finite[place].all(axis=-1)
        colors[is_lost] = [int(warning[at : at + 2], 16) for at in (1, 3, 5)]
    return Image.fromarray(colors)


def _address(image: "Image") -> str:
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)  # four times as quick as the usual 6
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


def _domain(place: int, count: int) -> tuple[list[float], list[float]]:
    row, column = divmod(place, NUM_COLUMNS)
    num_rows = -(-count // NUM_COLUMNS)
    width, height = 1 / NUM_COLUMNS, 1 / num_rows
    top = 1 - row * height
    return (
        [column * width + _GAP, (column + 1) * width - _GAP],
        [top - height + _GAP, top - height * _TITLE],
    )


def _draw_words(
    drawing: Drawing, picture: StoredPicture, place: tuple[float, float], look: Look
) -> None:
    shades = f"{picture.num_shades:,}" if look.present else _shades(picture)
    drawing.note(
        text=f"<b>{short(picture.format)}</b> · {shades}",
        xref="paper", yref="paper", x=place[0], y=place[1],
        xanchor="left", yanchor="bottom",
        font={"color": look.color("text")},
    )  # fmt: skip


def _shades(picture: StoredPicture) -> str:
    text = ngettext("{count} shade", "{count} shades", picture.num_shades)
    return text.format(count=f"{picture.num_shades:,}")


def _sentence(pictures: Sequence[StoredPicture]) -> str:
    parts = [f"{short(each.format)} {_shades(each)}" for each in pictures]
    return _(
        "The same picture of {values} colour values, brightness times {exposure}, in each format: "
        "{parts}."
    ).format(
        values=f"{pictures[0].num_values:,}",
        exposure=number(pictures[0].exposure, 4),
        parts=_(", ").join(parts),
    )


def _table(pictures: Sequence[StoredPicture]) -> Table:
    return {
        _("format"): [each.format for each in pictures],
        _("shades"): [f"{each.num_shades:,}" for each in pictures],
        "SQNR (dB)": [number(each.sqnr_db, 4) for each in pictures],
        _("values lost"): [f"{each.num_lost:,}" for each in pictures],
        _("scale factor"): [number(each.scale, 5) for each in pictures],
    }
