"""Bytes, counts, FLOPs and seconds, written for people.

Memory is GiB (2**30) unless the reader asks for GB (10**9); one text never mixes the two.
"""

import math
import re
from typing import Final, Literal

from core.language import N_, _

ByteUnit = Literal["GiB", "GB"]
BYTE_UNITS: Final[tuple[ByteUnit, ...]] = ("GiB", "GB")

KIB: Final = 1024
MIB: Final = 1024**2
GIB: Final = 1024**3

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DECIMAL = ("B", "kB", "MB", "GB", "TB", "PB")
_COUNTS = ("", " k", " M", " B", " T")
_RATES = ("", " k", " M", " G", " T", " P", " E", " Z", " Y")
_OF_FLOPS = (f"{rate.strip()}{what}" for rate in _RATES for what in ("FLOPs", "FLOP/s"))
_UNITS = (*_BINARY, *_DECIMAL, *_COUNTS[1:], *_OF_FLOPS, "ns", "µs", "ms", "s", "%", "dB")
# Also written by the browser, which fills the same two.
MINUTES: Final = N_("{minutes} min {seconds:02d} s")
HOURS: Final = N_("{hours} h {minutes:02d} min")
_DAYS: Final = N_("{days:,} d {hours:02d} h")


def format_bytes(num_bytes: float, unit: ByteUnit = "GiB") -> str:
    """Return a byte count with the unit that keeps it short.

    >>> format_bytes(3_216_384), format_bytes(3_216_384, "GB")
    ('3.07 MiB', '3.22 MB')
    """
    base, names = (1024, _BINARY) if unit == "GiB" else (1000, _DECIMAL)
    value, name = _scale(num_bytes, base, names)
    return f"{_short(value) if name != 'B' else format_exact(round(value))} {name}"


def format_exact(count: int) -> str:
    """Return a whole number with thousands marks.

    >>> format_exact(804_096)
    '804,096'
    """
    return f"{count:,}"


def format_count(count: float) -> str:
    """Return a count in k, M, B (10**9) or T, as model sizes are named.

    >>> format_count(804_096), format_count(7e9), format_count(65)
    ('804 k', '7.00 B', '65')
    """
    value, name = _scale(count, 1000, _COUNTS)
    return f"{_short(value) if name else f'{value:.4g}'}{name}"


def format_flops(flops: float) -> str:
    """Return an amount of compute.

    >>> format_flops(3.66e9)
    '3.66 GFLOPs'
    """
    value, name = _scale(flops, 1000, _RATES)
    return f"{_short(value)} {name.strip()}FLOPs"


def format_flops_per_second(flops_per_second: float) -> str:
    """Return a rate of compute.

    >>> format_flops_per_second(7.5e10)
    '75.0 GFLOP/s'
    """
    value, name = _scale(flops_per_second, 1000, _RATES)
    return f"{_short(value)} {name.strip()}FLOP/s"


def format_seconds(seconds: float) -> str:
    """Return a duration in the largest two units that matter, in the reader's language.

    >>> format_seconds(0.0123), format_seconds(45), format_seconds(200), format_seconds(3900)
    ('12.3 ms', '45.0 s', '3 min 20 s', '1 h 05 min')
    >>> format_seconds(1_209_600)
    '14 d 00 h'
    """
    if seconds < 0:
        return f"-{format_seconds(-seconds)}"
    if seconds < 60:
        return _under_a_minute(seconds)
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return _(MINUTES).format(minutes=minutes, seconds=rest)
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return _(HOURS).format(hours=hours, minutes=minutes)
    days, hours = divmod(round(seconds / 3600), 24)
    return _(_DAYS).format(days=days, hours=hours)


def format_rate(per_second: float, what: str) -> str:
    """Return a rate such as tokens per second; `what` is already in the reader's language.

    >>> format_rate(31_200, "tokens")
    '31.2 k tokens/s'
    """
    return f"{format_count(per_second)} {what}/s"


def format_percent(fraction: float) -> str:
    """Return a fraction as a percentage with three significant digits.

    >>> format_percent(0.254), format_percent(0.0009)
    ('25.4 %', '0.09 %')
    """
    return in_percent(f"{fraction * 100:.3g}")


def in_percent(number: str) -> str:
    """Return a number of percent with its sign; Chinese sets no blank before it.

    >>> in_percent("+2.5")
    '+2.5 %'
    """
    return _("{number} %").format(number=number)


def format_decibels(decibels: float) -> str:
    """Return a ratio in dB; infinite where nothing was lost, n/a where nothing is left.

    >>> format_decibels(20.449), format_decibels(float("inf")), format_decibels(float("nan"))
    ('20.4 dB', '∞ dB', 'n/a')
    """
    if math.isnan(decibels):
        return "n/a"
    return f"{decibels:.1f}".replace("inf", "∞") + " dB"


def unbroken(text: str) -> str:
    """Return a text in which no line ends between a number and its unit.

    >>> unbroken("182 GiB on 2 devices").split(" ") == [
    ...     "182\N{NO-BREAK SPACE}GiB",
    ...     "on",
    ...     "2",
    ...     "devices",
    ... ]
    True
    """
    times = (word for each in (MINUTES, HOURS, _DAYS) for word in re.findall(r"} (\S+)", _(each)))
    units = "|".join(re.escape(unit.strip()) for unit in (*_UNITS, *times))
    before_unit = rf"(?<=\d) (?=(?:{units})(?![A-Za-z0-9/]))"  # Chinese may follow at once
    return re.sub(before_unit, "\N{NO-BREAK SPACE}", text)


def _under_a_minute(seconds: float) -> str:
    for name, times in (("ns", 1e9), ("µs", 1e6), ("ms", 1e3)):
        if 0 < seconds * times < 999.5:  # 999.6 would be written 1000
            return f"{_short(seconds * times)} {name}"
    return f"{_short(seconds)} s" if seconds < 59.95 else _(MINUTES).format(minutes=1, seconds=0)


def _scale(value: float, base: int, names: tuple[str, ...]) -> tuple[float, str]:
    for name in names[:-1]:
        if abs(value) < base * (1 - 0.5e-3):  # 999.6 would be written 1000
            return value, name
        value /= base
    return value, names[-1]


def _short(value: float) -> str:
    """Three significant digits, never in scientific notation."""
    size = abs(value)
    if size >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"
