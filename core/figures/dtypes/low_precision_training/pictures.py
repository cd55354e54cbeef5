"""The same picture as every format gives it back, side by side."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from core.dtypes.labs import StoredPicture
from core.figures.dtypes.low_precision_training.lab_frame import HEIGHT_PX
from core.figures.dtypes.written import number, short
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _, ngettext

NUM_COLUMNS: Final = 5
PRESENT_PICTURES_PX: Final = 330  # the pictures are narrower there, and stay square
GRAYS: Final = [[0, "rgb(0, 0, 0)"], [1, "rgb(255, 255, 255)"]]
_GAP: Final = 0.015
_TITLE: Final = 0.14  # of the height of a row, for the words above a picture


def pictures_picture(pictures: Sequence[StoredPicture], chosen: str, look: Look) -> Picture:
    """Return one small picture a format; what overflowed shows the colour of overflow.

    Args:
        pictures: The same picture in several formats, with square pixels.
        chosen: Name of the format with a frame.
        look: How the reader wants to see.
    """
    drawing = Drawing()
    layout = look.layout() | {
        "height": PRESENT_PICTURES_PX if look.present else HEIGHT_PX,
        "margin": {"l": 0, "r": 0, "t": 4, "b": 0},
        "coloraxis": {
            "colorscale": GRAYS,
            "cmin": 0,
            "cmax": 1,
            "showscale": False,
        },
    }
    for place, picture in enumerate(pictures):
        x, y = _domain(place, len(pictures))
        suffix = "" if place == 0 else str(place + 1)
        hidden = {"visible": False, "fixedrange": True}
        layout[f"xaxis{suffix}"] = hidden | {"domain": x, "anchor": f"y{suffix}"}
        down = {"domain": y, "anchor": f"x{suffix}", "autorange": "reversed"}
        layout[f"yaxis{suffix}"] = hidden | down
        # A pixel that is not finite is left out: the ground shines through.
        framed = {"color": look.color("accent"), "width": 8}
        drawing.shape(
            type="rect", xref="paper", yref="paper", layer="below",
            x0=x[0], x1=x[1], y0=y[0], y1=y[1],
            fillcolor=look.color("overflow"),
            line=framed if picture.format == chosen else {"width": 0},
        )  # fmt: skip
        _draw_words(drawing, picture, (x[0], y[1]), look)
        pixels = np.where(np.isfinite(picture.pixels), picture.pixels, np.nan)
        drawing.trace(
            "heatmap",
            z=pixels.astype(np.float32),
            coloraxis="coloraxis",
            xaxis=f"x{suffix}",
            yaxis=f"y{suffix}",
            name=short(picture.format),
            hovertemplate="%{z:.5f}<extra>%{fullData.name}</extra>",
        )
    figure = drawing.figure(layout)
    return Picture(figure=figure, alt=_sentence(pictures), table=_table(pictures))


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
    """Return how many shades each format keeps."""
    parts = [f"{short(each.format)} {_shades(each)}" for each in pictures]
    return _(
        "The same picture of {pixels} pixels, brightness times {exposure}, in each format: {parts}."
    ).format(
        pixels=f"{pictures[0].pixels.size:,}",
        exposure=number(pictures[0].exposure, 4),
        parts=", ".join(parts),
    )


def _table(pictures: Sequence[StoredPicture]) -> Table:
    """Return shades, signal to noise and lost pixels, a row a format."""
    return {
        _("format"): [each.format for each in pictures],
        _("shades"): [f"{each.num_shades:,}" for each in pictures],
        "SQNR (dB)": [number(each.sqnr_db, 4) for each in pictures],
        _("pixels lost"): [f"{each.num_lost:,}" for each in pictures],
        _("scale factor"): [number(each.scale, 5) for each in pictures],
    }
