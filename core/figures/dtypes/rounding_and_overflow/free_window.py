"""A window that the reader moves along the number line and zooms: what it shows, in which words."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from core.dtypes.exact import floor_log2, to_float
from core.dtypes.facts.number_line import Marks, marks_between
from core.dtypes.number_formats.format import Format
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.dtypes.rounding_and_overflow.line_window import HIGHEST, Window, digits_apart
from core.language import _

_FINEST: Final = Fraction(1, 2**48)  # a window holds at least 16 numbers of float64
_MOST_MARKS: Final = 256  # in a free window
_MOST_BESIDE: Final = 128  # on either side of it


def free_window(center: Fraction | float, exponent: int) -> tuple[Window, str]:
    """Return the window around a number, 2**exponent wide, and what had to be changed, if anything.

    A number beyond float64 or none at all, and a window too narrow for float64, go to the nearest
    that can be drawn.

    >>> free_window(Fraction(1), -3)[0].low, free_window(Fraction(1), -3)[1]
    (0.9375, '')
    """
    said = []
    middle = _drawable(center)
    if middle != center:
        said.append(
            _("The window cannot stand at {number}: it stands at {center}.").format(
                number=digits(center, 6), center=digits(middle, 6)
            )
        )
    width = Fraction(2) ** exponent
    narrowest = _power_above(abs(middle) * _FINEST)
    if width < narrowest:
        said.append(
            _(
                "Around {center} float64 ends at a width of {narrowest}; {width} was asked for."
            ).format(
                center=digits(middle, 6), narrowest=digits(narrowest, 4), width=digits(width, 4)
            )
        )
        width = narrowest
    ends = (to_float(middle + side * width / 2) for side in (-1, 1))
    return Window(low=next(ends), high=next(ends), is_free=True), " ".join(said)


def _drawable(center: Fraction | float) -> Fraction:
    """Return a number that a window can stand at: 0 for NaN, an end for what lies beyond."""
    if isinstance(center, float) and math.isnan(center):
        return Fraction(0)
    return Fraction(min(max(center, -HIGHEST), HIGHEST))


def _power_above(value: Fraction) -> Fraction:
    """Return the smallest power of two that is not below a number; 0 for 0."""
    return Fraction(2) ** -floor_log2(1 / value) if value else value


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
    low, high = (
        digits(end, digits_apart((window.low, window.high))) for end in (window.low, window.high)
    )
    template = _("Numbers from {low} to {high}: {rows}")
    if all(window_marks(fmt, window).every == 1 for fmt in formats):
        template = _("Numbers from {low} to {high}, all marked: {rows}")
    return template.format(low=low, high=high, rows=_(", ").join(rows))
