"""Which part of the number line a picture shows: all of it in powers of two, or some of it."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from core.dtypes.cast.cast_trace import CastTrace
from core.dtypes.exact import to_float
from core.dtypes.facts.number_line import (
    number_at,
    place_of,
    ranges,
    some_stretches,
    ticks_between,
)
from core.dtypes.number_formats.format import Format
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.language import N_, _
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """A part of the number line.

    Attributes:
        low: Its left end.
        high: Its right end.
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

    Args:
        view: "log" the whole line in powers of two, "linear" from zero to twice the number,
            "near" eight neighbours of the first format to each side.
        formats: The rows of the picture, the first one leads.
        trace: What the number becomes in the first.
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
    ticks = ticks_between(fmt, window.low, window.high)
    if ticks is not None and not _too_dense(ticks, window):
        return list(ticks), [digits(tick) for tick in ticks], True
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
