"""The same picture in every format: what few bits do to smooth shades, to the dark and to light.

Why apart: an experiment of its own, on a tab of its own; the room's list names them all.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format
from core.dtypes.rounding import Floats
from core.language import _

SIZE: Final = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredPicture:
    """A picture after it was stored in a format.

    Attributes:
        format: Name of the format.
        pixels: The brightness read back, divided by the exposure again; infinity and NaN remain.
        exposure: What the brightness was multiplied by before it was stored.
        scale: What integers and codebooks were multiplied by on top (largest number of the format /
            largest pixel), 1.0 for floating point.
        num_shades: Different finite numbers among the stored pixels.
        sqnr_db: 10 log10 (signal power / error power); infinity without any error, NaN where a
            pixel is not finite.
        num_lost: Pixels that are not finite any more, or became zero without having been zero.
    """

    format: str
    pixels: Floats
    exposure: float
    scale: float
    num_shades: int
    sqnr_db: float
    num_lost: int


def analytic_picture(size: int = SIZE) -> Floats:
    """Return a picture made of formulas: a sky that fades, a moon with its glow, waves below.

    Args:
        size: Rows and columns.

    Returns:
        (size, size) brightness in [0, 1]; row 0 is the top.
    """
    y, x = np.mgrid[0:size, 0:size] / (size - 1)
    sky = 0.03 + 0.75 * y**1.3
    distance = np.hypot(x - 0.68, y - 0.27)
    glow = 0.3 * np.exp(-((distance / 0.22) ** 2))
    moon = 1 / (1 + np.exp((distance - 0.115) * 4 * size))
    waves = 0.22 + 0.17 * np.sin(34 * (y + 0.25 * np.sin(5 * x)) ** 2) * y
    shine = 0.5 * np.exp(-(((x - 0.68) / 0.09) ** 2)) * (0.6 + 0.4 * np.sin(90 * y))
    water = waves + shine * (y - 0.55)
    above = np.maximum(sky + glow, moon * (0.86 + 0.14 * np.cos(26 * x) * np.cos(31 * y)))
    picture: Floats = np.clip(np.where(y < 0.6, above, water), 0.0, 1.0)
    return picture


def stored_picture(picture: Floats, fmt: Format, exposure: float = 1.0) -> StoredPicture:
    """Return a picture as it comes back from a format.

    Args:
        picture: Brightness, any shape, finite.
        fmt: The format of every pixel. Integers and codebooks cannot hold fractions of 1 without a
            scale factor: they get one for the whole picture (absmax).
        exposure: Multiplies the brightness before it is stored, and divides it afterwards.

    Raises:
        ValueError: If the exposure is not a positive number.
    """
    if not (np.isfinite(exposure) and exposure > 0):
        raise ValueError(
            _("The exposure is {value}; it must be a positive number.").format(value=exposure)
        )
    peak = float(np.abs(picture).max()) * exposure
    scale = 1.0 if isinstance(fmt, FloatFormat) or peak == 0 else fmt.max / peak
    codes = fmt.encode(picture * exposure * scale)
    pixels = fmt.decode(codes) / (exposure * scale)
    lost = ~np.isfinite(pixels) | ((pixels == 0) & (picture != 0))
    return StoredPicture(
        format=fmt.name,
        pixels=pixels,
        exposure=exposure,
        scale=scale,
        num_shades=int(np.unique(pixels[np.isfinite(pixels)]).size),
        sqnr_db=_sqnr_db(picture, pixels),
        num_lost=int(lost.sum()),
    )


def _sqnr_db(picture: Floats, pixels: Floats) -> float:
    if not np.isfinite(pixels).all():
        return math.nan
    noise = float(np.square(pixels - picture).mean())
    signal = float(np.square(picture).mean())
    return 10 * math.log10(signal / noise) if noise else math.inf
