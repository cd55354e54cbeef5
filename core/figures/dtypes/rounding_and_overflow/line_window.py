"""Which part of the number line a picture shows: all, some of it, or a window to move and zoom."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from core.dtypes.cast.explain_cast import CastTrace
from core.dtypes.cast.slider_values import center_text
from core.dtypes.exact import floor_log2, to_float
from core.dtypes.facts.number_line import (
    Marks,
    marks_between,
    number_at,
    place_of,
    ranges,
    some_stretches,
)
from core.dtypes.number_formats.format import Format
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.dtypes.written import power_of_two
from core.language import N_, _
from core.language.listing import followed_by
from core.units import format_percent

View = Literal["log", "linear", "near"]
VIEWS: Final[tuple[View, ...]] = ("log", "linear", "near")
BAND_NAMES: Final[Mapping[str, str]] = {
    "normal": N_("normal numbers"),
    "subnormal": N_("subnormal numbers"),
    "zero": N_("becomes zero"),
    "overflow": N_("overflow"),
    "no_sign": N_("no sign: below zero nothing"),
}
_NUM_TICKS: Final = 5  # on a line, or on each side of zero
_MARKS_ACROSS: Final = 400  # marks that a row can hold apart, on a narrow screen too
_NEAR_STEPS: Final = 8
_AXIS_DIGITS: Final = 9
_FREE_DIGITS: Final = 8  # of a free window, which is often narrow and so needs more
_LONG_TEXT: Final = 7
_LOWEST: Final = 2.0**-1074
_HIGHEST: Final = 2.0**1022  # eight times its eighth is still a float64
LARGEST: Final = sys.float_info.max
# A window holds at least 16 numbers of float64, and Plotly still subtracts the ends of the widest.
NARROWEST, WIDEST = -1070, 1022
_FINEST: Final = Fraction(1, 2**48)
_ALMOST: Final = 1 - Fraction(1, 1024)  # a stretch may stand out of a window by less than a pixel
_MOST_MARKS: Final = 256  # in a free window
_MOST_BESIDE: Final = 128  # on either side of it


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """A part of the number line.

    Attributes:
        floor: In a signed logarithm, log2 of what is drawn at zero; None for a linear line.
        exponent: Of a window that the reader moves: it is 2**exponent wide. As much again is drawn
            on either side, for a hand that drags the picture. None for the others.
    """

    low: float
    high: float
    floor: int | None = None
    exponent: int | None = None

    @property
    def is_free(self) -> bool:
        """Whether the reader moves it."""
        return self.exponent is not None

    @property
    def drawn(self) -> tuple[float, float]:
        """The ends of what is drawn: beyond those of a free window, which is dragged."""
        width = self.high - self.low if self.is_free else 0.0
        return max(self.low - width, -LARGEST), min(self.high + width, LARGEST)

    def at(self, value: float) -> float:
        """Return where a number stands on the axis.

        A free window goes from -1/2 to 1/2, for Plotly draws neither 1e308 nor 1e-320.

        >>> Window(low=-4, high=4, floor=-2).at(-1.0)
        -2.0
        >>> Window(low=1, high=3, exponent=1).at(2.5)
        0.25
        """
        if self.is_free:
            return (value - self.low) / (self.high - self.low) - 0.5
        if self.floor is None or value == 0:
            return value
        return math.copysign(max(math.log2(abs(value)) - self.floor, 0.0), value)

    def number_at(self, place: float) -> float:
        """Return the number that stands at a place on the axis: the inverse of `at`.

        >>> Window(low=-4, high=4, floor=-2).number_at(-2.0)
        -1.0
        """
        if self.floor is None or place == 0:
            return place
        return math.copysign(2.0 ** min(abs(place) + self.floor, 1023), place)

    def axis_ticks(self, most: int = _NUM_TICKS) -> tuple[list[float], list[str]]:
        """Return where the axis is marked, and with what.

        `most` is how many powers of two a side of zero has room for.
        """
        if self.exponent is not None:
            return self._moving_ticks(self.exponent)
        if self.floor is None:
            return self._even_ticks()
        top = math.log2(self.high)
        step = max(round((top - self.floor) / most), 1)
        first = -(-(self.floor + (step + 1) // 2) // step) * step  # none runs into that of zero
        exponents = range(first, math.floor(top) + 1, step)
        positive = [(self.at(2.0**each), power_text(each) if each else "1") for each in exponents]
        negative = [(-x, f"−{text}") for x, text in positive if self.low < 0]
        marks = [*negative, (0.0, "0"), *positive]
        return [x for x, _text in marks], [text for _x, text in marks]

    def _even_ticks(self) -> tuple[list[float], list[str]]:
        step = self.high / (_NUM_TICKS - 1) - self.low / (_NUM_TICKS - 1)
        values = [self.low + n * step for n in range(_NUM_TICKS)]
        most = digits_apart(values, _AXIS_DIGITS)
        return values, [digits(value, most) for value in values]

    def _moving_ticks(self, exponent: int) -> tuple[list[float], list[str]]:
        low, high = map(Fraction, self.drawn)
        for part in (4, 2):  # on a projector four long ones would collide
            step = Fraction(2) ** exponent / part
            values = [float(n * step) for n in range(math.ceil(low / step), int(high // step) + 1)]
            texts = [_tick_text(value, digits_apart(values, 3)) for value in values]
            if max(map(len, texts)) <= _LONG_TEXT:
                break
        return [self.at(value) for value in values], texts


def digits_apart(values: Sequence[float], least: int = _FREE_DIGITS) -> int:
    """Return how many digits tell evenly placed numbers from one another, `least` at least."""
    largest, step = max(map(abs, values)), values[1] - values[0]
    return max(least, math.ceil(math.log10(largest / step)) + 2)


def _tick_text(value: float, most: int) -> str:
    exact = digits(value, max(most, _FREE_DIGITS))
    return f"{value:.{most}g}" if "…" in exact else exact


def power_text(exponent: int, *, share: bool = False) -> str:
    """Return a power of two for an axis; as a share also in percent, while that says anything.

    >>> power_text(-7, share=True), power_text(-23, share=True), power_text(3)
    ('2<sup>−7</sup> = 0.781 %', '2<sup>−23</sup>', '2<sup>3</sup>')
    """
    power = f"2<sup>{exponent}</sup>".replace("-", "−")
    if not share or exponent < -14:
        return power
    return f"{power} = {format_percent(2.0**exponent)}"


def window_of(view: View, formats: Sequence[Format], trace: CastTrace) -> Window:
    """Return the part of the line for a view of these formats around a number.

    "log" is the whole line in powers of two, "linear" from zero to twice the number, "near" eight
    neighbours to each side of it in the first format, in which it becomes `trace`.
    """
    value = to_float(trace.value)
    if view == "near" and math.isfinite(value):
        return _near(formats[0], trace)
    if view == "log":
        return _whole(formats, value)
    reach = formats[0].max if not math.isfinite(value) else 2 * abs(value) or 1.0
    limit = 2.0 ** min(math.ceil(math.log2(max(min(reach, _HIGHEST), _LOWEST))), 1022)
    return Window(low=-limit if formats[0].min < 0 else -limit / 8, high=limit)


def _whole(formats: Sequence[Format], value: float) -> Window:
    smallest = min(fmt.smallest_subnormal for fmt in formats)
    largest = max(fmt.max for fmt in formats)
    if math.isfinite(value) and value:
        smallest, largest = min(smallest, abs(value)), max(largest, abs(value))
    floor = math.floor(math.log2(smallest)) - 2
    high = 2.0 ** min(math.ceil(math.log2(largest)) + 2, 1023)
    signed = any(fmt.min < 0 for fmt in formats)
    return Window(low=-high if signed else 0.0, high=high, floor=floor)


def _near(fmt: Format, trace: CastTrace) -> Window:
    center = Fraction(trace.value)
    low, high = trace.lower, trace.upper
    gap = high.exact - low.exact if low and high else Fraction(0)
    if not gap:
        gap = _gap_beside(fmt, trace.code)
    reach = _NEAR_STEPS * gap
    low_end, high_end = (to_float(center + side * reach) for side in (-1, 1))
    return Window(low=max(low_end, -_HIGHEST), high=min(high_end, _HIGHEST))


def _gap_beside(fmt: Format, code: int) -> Fraction:
    exact = fmt.exact(code)
    if isinstance(exact, str):
        return Fraction(fmt.eps)
    place = place_of(fmt, code)
    beside = number_at(fmt, place + 1) or number_at(fmt, place - 1)
    return abs(beside.exact - exact) if beside else Fraction(1)


def bands(fmt: Format, window: Window) -> list[tuple[str, float, float]]:
    """Return (kind, low, high) of each range that the window shows, ascending."""
    edge = ranges(fmt)
    above = [
        ("zero", 0.0, edge.zero),
        ("subnormal", edge.zero, edge.subnormal),
        ("normal", edge.subnormal, edge.overflow),
        ("overflow", edge.overflow, math.inf),
    ]
    if fmt.min < 0:
        below = [(kind, -high, -low) for kind, low, high in reversed(above)]
    else:
        below = [("no_sign", -math.inf, 0.0)]
    clipped = [
        (kind, max(low, window.drawn[0]), min(high, window.drawn[1]))
        for kind, low, high in (*below, *above)
    ]
    return [(kind, low, high) for kind, low, high in clipped if low < high]


def line_marks(fmt: Format, window: Window) -> tuple[list[float], list[str], bool]:
    """Return what is marked in a row, what each mark says, and whether it is every number.

    Where the numbers are too many to be told apart, the marks are the ends of stretches of equal
    distance: the powers of two.
    """
    marks = marks_between(fmt, window.low, window.high)
    if marks.every == 1 and not _too_dense(marks.values, window):
        return list(marks.values), [digits(tick) for tick in marks.values], True
    values, texts = _edges(fmt, window)
    return values, texts, False


def _too_dense(ticks: tuple[float, ...], window: Window) -> bool:
    """Return whether marks in a logarithmic row would run into one another."""
    positive = [tick for tick in ticks if tick > 0]
    if window.floor is None or len(positive) < 2:
        return False
    width = window.at(positive[-1]) - window.at(positive[0])
    whole = window.at(window.high) - window.at(window.low)
    return len(positive) * whole > _MARKS_ACROSS * width


def _edges(fmt: Format, window: Window) -> tuple[list[float], list[str]]:
    edges: list[float] = []
    texts: list[str] = []
    for each in some_stretches(fmt):
        words = _("{count} numbers from {low} to {high}, {gap} apart").format(
            count=f"{each.num_gaps:,.0f}",
            low=f"{each.low:.6g}",
            high=f"{each.high:.6g}",
            gap=f"{each.gap:.6g}",
        )
        for sign in (1, -1) if fmt.min < 0 else (1,):
            if window.low <= sign * each.low <= window.high:
                edges.append(sign * each.low)
                texts.append(words)
    return edges, texts


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
    return Window(low=low, high=high, exponent=used), followed_by(*said)


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

    Its middle went to the right by `shift` widths, and it became 2**levels as wide.

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
