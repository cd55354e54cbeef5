"""The same picture in every format: what few bits do to smooth shades, to the dark and to light."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format
from core.dtypes.rounding import Floats

Counts = npt.NDArray[np.int64]

SIZE: Final = 512
_DEPTH: Final = 65535  # 16 bits a colour, as the sensor of a good camera gives them
_DARKEST: Final = 0.002  # no night is quite black; float8_e4m3fn still has a number for it
_HORIZON: Final = 0.62
_SUN: Final = (0.13, 0.41)  # x, y
_HIGH: Final = (0.03, 0.06, 0.2)
_LOW: Final = (1.0, 0.56, 0.28)


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredPicture:
    """A picture after it was stored in a format.

    Attributes:
        pixels: The values read back, divided by the exposure again; infinity and NaN remain.
        exposure: What the brightness was multiplied by before it was stored.
        scale: What integers and codebooks were multiplied by on top (largest number of the format /
            largest pixel), 1.0 for floating point.
        num_shades: Different finite numbers among the stored values.
        sqnr_db: 10 log10 (signal power / error power); infinity without any error, NaN where a
            pixel is not finite.
        num_lost: Values that are not finite any more, or became zero without having been zero.
    """

    format: str
    pixels: Floats
    exposure: float
    scale: float
    num_shades: int
    sqnr_db: float
    num_lost: int
    num_values: int


def color_picture() -> Floats:
    """Return a landscape made of formulas: a sky at dusk, stars, clouds, mountains, water.

    That is (512, 512, 3) red, green and blue in [0, 1], of 65,536 levels each; row 0 is the top.
    """
    y, x = np.mgrid[0:SIZE, 0:SIZE] / (SIZE - 1)
    water = np.maximum(y - _HORIZON, 0)
    waves = np.sin(60 / (water + 0.08) + 7 * np.sin(9 * x + 40 * water))
    mirrored = np.clip(_HORIZON - 1.35 * water + 0.02 * waves * np.sqrt(water), 0, 1)
    above = _land(x, y, _sky(x, y))
    below = _land(x, mirrored, _sky(x, mirrored)) * (0.62 - 0.5 * water)[..., None]
    width = 0.02 + 0.5 * water
    glitter = np.exp(-(((x - _SUN[0]) / width) ** 2)) * np.maximum(waves, 0) ** 3
    below += 0.55 * glitter[..., None] * np.array(_LOW)
    picture = np.where((y < _HORIZON)[..., None], above, below)
    levels: Floats = np.rint(np.clip(picture, _DARKEST, 1) * _DEPTH) / _DEPTH
    return levels


def _sky(x: Floats, y: Floats) -> Floats:
    """Return dusk: blue above, orange at the horizon, the sun, clouds, and stars."""
    share = np.clip(y / _HORIZON, 0, 1)[..., None] ** 1.6
    sky = (1 - share) * np.array(_HIGH) + share * np.array(_LOW)
    distance = np.hypot(x - _SUN[0], y - _SUN[1])
    glow = 0.35 * np.exp(-((distance / 0.16) ** 2)) + 0.5 - 0.5 * np.tanh(450 * (distance - 0.045))
    clouds = np.clip(_grain(2.2 * x, 7 * y, 6) - 0.35, 0, 1) * np.clip(1.3 - 1.7 * y, 0, 1)
    sky = sky + glow[..., None] * np.array([1.0, 0.85, 0.6])
    sky = sky + 0.5 * clouds[..., None] * np.array([0.95, 0.62, 0.6])
    cell = np.floor(220 * x) * 12.9898 + np.floor(220 * y) * 78.233
    chance = np.abs(np.sin(cell) * 43758.5453) % 1
    stars = np.where(chance > 0.994, 0.9 * np.clip(0.75 - 2 * y, 0, 1), 0)
    found: Floats = sky + stars[..., None]
    return found


def _land(x: Floats, y: Floats, sky: Floats) -> Floats:
    """Return the sky with two ranges of mountains before it, the nearer one darker and rougher."""
    found = sky
    for height, rough, seed, color in (
        (0.43, 0.16, 1.0, (0.3, 0.2, 0.33)),
        (0.53, 0.13, 5.0, (0.1, 0.09, 0.13)),
    ):
        ridge = height - rough * (_grain(1.6 * x + seed, 0 * y, 7) - 0.1)
        rock = 0.65 + 0.7 * _grain(9 * x + seed, 14 * y, 6)
        haze = np.clip((y - ridge) * 4, 0, 1)
        mountain = rock[..., None] * np.array(color) * (1 - 0.35 * haze)[..., None]
        found = np.where((y > ridge)[..., None], mountain, found)
    return found


def _grain(x: Floats, y: Floats, octaves: int) -> Floats:
    """Return detail of every size: waves in turned directions, each twice as fine."""
    total = np.zeros_like(x)
    for octave in range(octaves):
        turn, fine = 2.4 * octave, 2.0**octave
        along = fine * (x * math.cos(turn) + y * math.sin(turn))
        across = fine * (y * math.cos(turn) - x * math.sin(turn))
        total += np.sin(4.1 * along + 1.7 * np.sin(2.3 * across + octave)) / (octave + 1.5) ** 1.5
    return total


def stored_picture(
    picture: Floats, fmt: Format, exposure: float = 1.0, counts: Counts | None = None
) -> StoredPicture:
    """Return a picture as it comes back from a format.

    Args:
        picture: Brightness, or values of its colours, any shape, finite.
        fmt: The format of every value. Integers and codebooks cannot hold fractions of 1 without a
            scale factor: they get one for the whole picture (absmax).
        exposure: Multiplies the brightness before it is stored, and divides it afterwards.
        counts: How often each value occurs; once if nothing is said.
    """
    peak = float(np.abs(picture).max()) * exposure
    scale = 1.0 if isinstance(fmt, FloatFormat) or peak == 0 else fmt.max / peak
    codes = fmt.encode(picture * exposure * scale)
    pixels = fmt.decode(codes) / (exposure * scale)
    often = np.ones(picture.shape, np.int64) if counts is None else counts
    lost = ~np.isfinite(pixels) | ((pixels == 0) & (picture != 0))
    return StoredPicture(
        format=fmt.name,
        pixels=pixels,
        exposure=exposure,
        scale=scale,
        num_shades=int(np.unique(pixels[np.isfinite(pixels)]).size),
        sqnr_db=_sqnr_db(picture, pixels, often),
        num_lost=int(often[lost].sum()),
        num_values=int(often.sum()),
    )


def _sqnr_db(picture: Floats, pixels: Floats, often: Counts) -> float:
    if not np.isfinite(pixels).all():
        return math.nan
    noise = float((np.square(pixels - picture) * often).sum())
    signal = float((np.square(picture) * often).sum())
    return 10 * math.log10(signal / noise) if noise else math.inf
