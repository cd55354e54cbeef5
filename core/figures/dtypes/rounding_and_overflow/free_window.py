"""A window that the reader moves along the number line and zooms: what it shows, in which words."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from core.dtypes.cast.slider_values import center_text
from core.dtypes.exact import floor_log2, to_float
from core.dtypes.facts.number_line import Marks, marks_between
from core.dtypes.number_formats.format import Format
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.dtypes.rounding_and_overflow.line_window import LARGEST, Window, digits_apart
from core.figures.dtypes.written import power_of_two
from core.language import _

# A window holds at least 16 numbers of float64, and Plotly still subtracts the ends of the widest.
NARROWEST, WIDEST = -1070, 1022
_FINEST: Final = Fraction(1, 2**48)
_ALMOST: Final = 1 - Fraction(1, 1024)  # a stretch may stand out of a window by less than a pixel
_MOST_MARKS: Final = 256  # in a free window
_MOST_BESIDE: Final = 128  # on either side of it


def free_window(center: Fraction | float, exponent: int) -> tuple[Window, str]:
    """Return the window around a number, 2**exponent wide, and what had to be changed, if anything.

    A number beyond float64 or none at all, and a window too narrow for float64, go to the nearest
    that can be drawn.

    >>> free_window(Fraction(1), -3)[0].low, free_window(Fraction(1), -3)[1]
    (0.9375, '')
    """
    middle, said = _drawable(center)
    used = max(exponent, _narrowest(middle))
    if used > exponent:
        template = _(
            "Around {center} float64 ends at a width of {narrowest}; {width} was asked for."
        )
        said.append(
            template.format(
                center=digits(middle, 6), narrowest=width_words(used), width=width_words(exponent)
            )
        )
    elif used == NARROWEST:
        said.append(_("The narrowest window: {width}.").format(width=width_words(used)))
    elif used == WIDEST:
        said.append(_("The widest window: {width}.").format(width=width_words(used)))
    half = Fraction(2) ** used / 2
    reach = Fraction(LARGEST) - half
    if abs(middle) > reach - half / 256:  # what is missing to the end is less than a pixel or two
        middle = reach if middle > 0 else -reach
    low, high = to_float(middle - half), to_float(middle + half)
    if LARGEST in (-low, high):
        said.append(_("Here float64 ends: its largest number is {number}.").format(number=LARGEST))
    return Window(low=low, high=high, exponent=used), " ".join(said)


def _drawable(center: Fraction | float) -> tuple[Fraction, list[str]]:
    if isinstance(center, float) and math.isnan(center):
        middle = Fraction(0)
    else:
        middle = Fraction(min(max(center, -LARGEST), LARGEST))
    if middle == center:
        return middle, []
    said = _("The window cannot stand at {number}: it stands at {center}.")
    return middle, [said.format(number=digits(center, 6), center=digits(middle, 6))]


def _narrowest(middle: Fraction) -> int:
    least = abs(middle) * _FINEST
    return max(-floor_log2(1 / least), NARROWEST) if least else NARROWEST


def window_around(low: float, high: float) -> tuple[str, int]:
    """Return the centre, as text, and the exponent of the narrowest window that holds two numbers.

    >>> window_around(0.5, 12.5)
    ('6.5', 4)
    """
    one, other = (_inside(Fraction(end)) for end in (low, high))
    middle, width = (one + other) / 2, abs(one - other) * _ALMOST
    exponent = -floor_log2(1 / width) if width else NARROWEST
    exponent = min(max(exponent, _narrowest(middle)), WIDEST)
    return center_text(middle, exponent), exponent


def moved_window(window: Window, shift: float, levels: float) -> tuple[str, int]:
    """Return the centre, as text, and the exponent of a free window that a hand has moved.

    Args:
        window: Where it stood.
        shift: How far its middle went to the right, in widths.
        levels: It became 2**levels as wide.

    >>> moved_window(Window(low=0, high=2, exponent=1), 0.25, -1)
    ('1.5', 0)
    """
    assert window.exponent is not None  # noqa: S101  only a free window is moved
    exponent = min(max(window.exponent + round(levels), NARROWEST), WIDEST)
    middle = (Fraction(window.low) + Fraction(window.high)) / 2
    middle = _inside(middle + Fraction(shift) * Fraction(2) ** window.exponent)
    return center_text(middle, max(exponent, _narrowest(middle))), exponent


def _inside(value: Fraction) -> Fraction:
    return min(max(value, -Fraction(LARGEST)), Fraction(LARGEST))


def width_words(exponent: int) -> str:
    """Return a width as a power of two, with its number.

    >>> width_words(-3), width_words(70)
    ('2⁻³ = 0.125', '2⁷⁰ ≈ 1.181e+21')
    """
    width = 2.0**exponent
    short = f"{width:.4g}" if not 1e-4 < width < 1e6 else f"{width:.15g}"
    sign = "=" if Fraction(short) == Fraction(2) ** exponent else "≈"
    return f"{power_of_two(exponent)} {sign} {short}"


def window_marks(fmt: Format, window: Window) -> Marks:
    """Return which numbers of a format are marked inside a free window."""
    return marks_between(fmt, window.low, window.high, _MOST_MARKS)


def beside_marks(fmt: Format, window: Window) -> tuple[Marks, Marks]:
    """Return which are marked to the left and to the right of it, each side by its own count."""
    low, high = window.drawn
    left = marks_between(fmt, low, math.nextafter(window.low, -math.inf), _MOST_BESIDE)
    right = marks_between(fmt, math.nextafter(window.high, math.inf), high, _MOST_BESIDE)
    return left, right


def window_words(formats: Sequence[Format], window: Window) -> str:
    """Return how many numbers each format has in a free window, and which of them are marked."""
    rows = []
    for fmt in formats:
        marks = window_marks(fmt, window)
        template = _("{count} in {format}")
        if marks.every > 1:
            template = _("{count} in {format} (1 in {every} marked)")
        rows.append(
            template.format(
                count=f"{marks.num_numbers:,}", format=fmt.name, every=f"{marks.every:,}"
            )
        )
    ends = window.low, window.high
    low, high = (_end_text(end, digits_apart(ends)) for end in ends)
    template = _("Numbers from {low} to {high}: {rows}")
    if all(window_marks(fmt, window).every == 1 for fmt in formats):
        template = _("Numbers from {low} to {high}, all marked: {rows}")
    return template.format(low=low, high=high, rows=_(", ").join(rows))


def _end_text(end: float, most: int) -> str:
    short = f"{end:.{most}g}"
    exact = digits(end, most)
    return short if "…" in exact and float(short) == end else exact
