"""Exact numbers: read from text without rounding, and written digit by digit."""

import math
import re
from fractions import Fraction
from typing import Final, Literal

from core.language import _

Special = Literal["nan", "inf"]
MAX_EXPONENT: Final = 20_000  # 2**16384 is the largest power that a designed format reaches
MAX_TEXT: Final = 200
# From U+FF01 on, a Chinese keyboard has the signs of ASCII once more, as wide as a character.
_WIDE: Final = {0x3000: " ", **{0xFF01 + place: chr(0x21 + place) for place in range(94)}}
_DECIMAL: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,5})?")
_HEX_FLOAT: Final = re.compile(r"([+-]?)0x([0-9a-f]+)(?:\.([0-9a-f]*))?p([+-]?\d{1,5})")
_SPECIAL: Final = re.compile(r"[+-]?(inf|infinity|∞|nan)")
_POWER: Final = re.compile(r"([+-]?)(\d{1,4})(?:\^|\*\*)\(?([+-]?\d{1,5})\)?")


def to_float(value: Fraction | float) -> float:
    """Return the float64 nearest to an exact value, or itself; beyond float64, infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def parse_value(text: str) -> Fraction | float:
    """Read a number without rounding it; infinities, NaN and -0 come back as float.

    Accepted: 65519.99, 1e-8, 1/3, 2^-25, 2**-25, 0x1.8p3, inf, -inf, nan, -0; a minus sign may be
    the typographic one, and all signs may be the wide ones of a Chinese keyboard.

    Raises:
        ValueError: If the text is none of these, or its exponent is beyond every format.

    >>> parse_value("2^-3"), parse_value("0x1.8p1")
    (Fraction(1, 8), Fraction(3, 1))
    """
    word = text.translate(_WIDE).strip().lower()
    word = word.replace("−", "-").replace("_", "").replace(" ", "")
    if _SPECIAL.fullmatch(word):
        return float(word.replace("∞", "inf"))
    value = _read(word) if len(word) <= MAX_TEXT else None
    if value is None:
        raise ValueError(
            _(
                "“{text}” is not a number: write 65519.99, 1e-8, 1/3, 2^-25, 0x1.8p3, inf or nan."
            ).format(text=text.strip()[:40])
        )
    return -0.0 if value == 0 and word.startswith("-") else value


def _read(word: str) -> Fraction | None:
    if match := _HEX_FLOAT.fullmatch(word):
        sign, whole, part, exponent = match.groups(default="")
        digits = int(whole + part, 16) * Fraction(2) ** (_bounded(exponent) - 4 * len(part))
        return -digits if sign == "-" else digits
    if match := _POWER.fullmatch(word):
        sign, base, exponent = match.groups()
        power = _power(int(base), _bounded(exponent))
        return None if power is None else -power if sign == "-" else power
    if match := _DECIMAL.fullmatch(word):
        _bounded((match.group(2) or "e0")[1:])
        return Fraction(word)
    upper, slash, lower = word.partition("/")
    if slash and _DECIMAL.fullmatch(upper) and _DECIMAL.fullmatch(lower):
        parts = _read(upper), _read(lower)
        return parts[0] / parts[1] if parts[0] is not None and parts[1] else None
    return None


def _power(base: int, exponent: int) -> Fraction | None:
    """Return base**exponent; None for a base of zero; refuse what would only fill the memory."""
    if base and (base - 1).bit_length() * abs(exponent) > MAX_EXPONENT:
        raise ValueError(
            _("{base}^{exponent} is out of range: use powers from 2^-{most} to 2^{most}.").format(
                base=base, exponent=exponent, most=MAX_EXPONENT
            )
        )
    return Fraction(base) ** exponent if base else None


def _bounded(exponent: str) -> int:
    """Return an exponent that is safe to compute with; others would fill the memory with digits."""
    if abs(int(exponent)) > MAX_EXPONENT:
        raise ValueError(
            _("The exponent {exponent} is out of range: use -{most} to {most}.").format(
                exponent=int(exponent), most=MAX_EXPONENT
            )
        )
    return int(exponent)


def exact_decimal(value: Fraction, max_digits: int = 60) -> tuple[str, bool]:
    """Return a number in decimal, and whether every digit of it is there.

    A binary fraction has finitely many decimal digits; beyond `max_digits` significant ones the
    text is cut and ends in "…". Very large and small numbers are written with an exponent.

    >>> exact_decimal(Fraction(1, 8))
    ('0.125', True)
    """
    if value == 0:
        return "0", True
    sign = "-" if value < 0 else ""
    power, digits, whole = _digits(abs(value), max_digits)
    more = "" if whole else "…"
    if -7 <= power < 21:
        return sign + _placed(digits, power) + more, whole
    point = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{point}{more}e{power:+d}", whole


def _digits(value: Fraction, max_digits: int) -> tuple[int, str, bool]:
    """Return the decimal exponent of the first digit, the digits, and whether these are all."""
    # Not by len(str(...)): Python refuses to write whole numbers of more than 4,300 digits.
    power = math.floor(floor_log2(value) * math.log10(2))
    if value >= Fraction(10) ** (power + 1):
        power += 1
    scaled = value * Fraction(10) ** (max_digits - 1 - power)
    number = scaled.numerator // scaled.denominator
    return power, str(number).rstrip("0"), scaled.denominator == 1


def _placed(digits: str, power: int) -> str:
    if power < 0:
        return "0." + "0" * (-power - 1) + digits
    whole = digits[: power + 1].ljust(power + 1, "0")
    part = digits[power + 1 :]
    return f"{whole}.{part}" if part else whole


def hex_float(value: Fraction) -> str:
    """Return a binary fraction as C and Python write it: 0x1.8p+3.

    Raises:
        ValueError: If the number is no binary fraction, such as 1/3.

    >>> hex_float(Fraction(12))
    '0x1.8p+3'
    """
    if value.denominator & (value.denominator - 1):
        raise ValueError(f"{value} has no finite binary expansion")
    if value == 0:
        return "0x0p+0"
    sign, magnitude = ("-" if value < 0 else ""), abs(value)
    exponent = floor_log2(magnitude)
    part = magnitude / Fraction(2) ** exponent - 1
    digits = ""
    while part:
        digit, part = divmod(part * 16, 1)
        digits += f"{int(digit):x}"
    return f"{sign}0x1{'.' if digits else ''}{digits}p{exponent:+d}"


def floor_log2(value: Fraction) -> int:
    """Return the exponent of the largest power of two that is not above a positive number.

    >>> floor_log2(Fraction(7)), floor_log2(Fraction(1, 3))
    (2, -2)
    """
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if value >= Fraction(2) ** exponent else exponent - 1
