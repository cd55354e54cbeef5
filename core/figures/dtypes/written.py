"""How numbers, shares and formats are written on the pages of number formats."""

import math
from typing import Final

from core.units import format_percent, in_percent

_RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 6) -> str:
    """Return a number as people write it; specials in words of the field.

    >>> number(131072.0), number(1e-8), number(float("inf")), number(0.1 + 0.2)
    ('131,072', '1e-08', 'inf', '0.3')
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.{digits}g}"


def percent(share: float) -> str:
    """Return a share as a percentage; what is almost none or almost all does not look like it.

    >>> percent(0.0237), percent(0.00001), percent(0.99999), percent(1.0), percent(0.0)
    ('2.37 %', '< 0.01 %', '> 99.99 %', '100 %', '0 %')
    """
    if 0 < share < 1e-4:
        return in_percent("< 0.01")
    if 1 - 1e-4 < share < 1:
        return in_percent("> 99.99")
    return format_percent(share)


def short(name: str) -> str:
    """Return a format's name as it stands beside a line.

    >>> short("float8_e4m3fn"), short("bfloat16"), short("int8")
    ('E4M3', 'BF16', 'INT8')
    """
    if name.startswith("float") and "_" in name:
        return name.rpartition("_")[2].removesuffix("fn").upper()
    return name.upper().replace("BFLOAT", "BF").replace("FLOAT", "FP")


def power_of_two(exponent: int) -> str:
    """Return 2 to a whole power as people write it.

    >>> power_of_two(16), power_of_two(-3)
    ('2¹⁶', '2⁻³')
    """
    return f"2{str(exponent).translate(_RAISED)}"
