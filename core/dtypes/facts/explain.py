"""A code taken apart: its fields, what they mean, and its place among its neighbours."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from core.dtypes.exact import exact_decimal, hex_float
from core.dtypes.facts.number_line import Neighbour, num_finite, number_at, place_of
from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format
from core.dtypes.number_formats.int_format import IntFormat

Kind = Literal["zero", "subnormal", "normal", "infinity", "nan", "integer", "codebook"]
Field = Literal["sign", "exponent", "mantissa"]
FIELD_ORDER: Final[tuple[Field, ...]] = ("sign", "exponent", "mantissa")
MAX_DIGITS: Final = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class DecodedCode:
    """What one code means, with every step.

    Attributes:
        sign: The sign field; None where the format has none.
        exponent: The exponent field as a whole number; None where there is none.
        mantissa: The mantissa field as a whole number; None where there is none.
        kind: What the fields make.
        value: The number as float64; a number beyond float64 is infinite here.
        exact: The number itself; None for infinity and NaN.
        decimal: The number in decimal digits; all of them when `is_whole_decimal`.
        is_whole_decimal: Whether `decimal` shows every digit.
        hex_float: The number as C writes it; empty for infinity and NaN.
        formula: The rule with the fields put in; empty for infinity and NaN.
        ulp: The distance to the neighbour away from zero; at the largest number the one inside.
        place: How many finite numbers of the format are smaller; None for infinity and NaN.
        num_finite: How many different finite numbers the format has.
    """

    format: str
    code: int
    bits: str
    sign: int | None
    exponent: int | None
    mantissa: int | None
    kind: Kind
    value: float
    exact: Fraction | None
    decimal: str
    is_whole_decimal: bool
    hex_float: str
    formula: str
    below: Neighbour | None
    above: Neighbour | None
    ulp: Fraction | None
    place: int | None
    num_finite: int


def explain_code(fmt: Format, code: int) -> DecodedCode:
    """Return everything that one code means.

    Raises:
        ValueError: If the format has no such code.

    >>> from core.dtypes import FORMATS
    >>> explain_code(FORMATS["float8_e4m3fn"], 0x7E).formula
    '(-1)^0 × 2^(15 - 7) × (1 + 6/8)'
    """
    value = float(fmt.decode([code])[0])
    exact = fmt.exact(code)
    known = None if isinstance(exact, str) else exact
    sign, exponent, mantissa = fields(fmt, code)
    place = None if known is None else place_of(fmt, code)
    below, above = _neighbours(fmt, code, place)
    away = (above or below) if known is not None and known >= 0 else (below or above)
    decimal, whole = ("", True) if known is None else exact_decimal(known, MAX_DIGITS)
    return DecodedCode(
        format=fmt.name,
        code=code,
        bits=f"{code:0{fmt.bits}b}",
        sign=sign,
        exponent=exponent,
        mantissa=mantissa,
        kind=kind_of(fmt, code),
        value=value,
        exact=known,
        decimal=decimal,
        is_whole_decimal=whole,
        hex_float="" if known is None else hex_float(known),
        formula="" if known is None else _formula(fmt, code),
        below=below,
        above=above,
        ulp=None if known is None or away is None else abs(away.exact - known),
        place=place,
        num_finite=num_finite(fmt),
    )


def _neighbours(
    fmt: Format, code: int, place: int | None
) -> tuple[Neighbour | None, Neighbour | None]:
    if place is not None:
        return number_at(fmt, place - 1), number_at(fmt, place + 1)
    if fmt.exact(code) != "inf":
        return None, None
    if fmt.is_negative(code):
        return None, number_at(fmt, 0)
    return number_at(fmt, num_finite(fmt) - 1), None


def fields(fmt: Format, code: int) -> tuple[int | None, int | None, int | None]:
    """Return sign, exponent and mantissa fields; an integer has at most the sign bit."""
    if isinstance(fmt, FloatFormat):
        rest, mantissa = divmod(code, 1 << fmt.mantissa_bits)
        sign, exponent = divmod(rest, 1 << fmt.exponent_bits)
        return (
            sign if fmt.signed else None,
            exponent if fmt.exponent_bits else None,
            mantissa if fmt.mantissa_bits else None,
        )
    if isinstance(fmt, IntFormat) and fmt.signed:
        return int(fmt.is_negative(code)), None, code & fmt.highest
    return None, None, code


def kind_of(fmt: Format, code: int) -> Kind:
    """Return what the fields of a code make."""
    exact = fmt.exact(code)
    if isinstance(exact, str):
        return "nan" if exact == "nan" else "infinity"
    if not isinstance(fmt, FloatFormat):
        return "integer" if isinstance(fmt, IntFormat) else "codebook"
    if exact == 0:
        return "zero"
    magnitude = code & (1 << fmt.magnitude_bits) - 1
    return "subnormal" if fmt.zero and magnitude >> fmt.mantissa_bits == 0 else "normal"


def bit_fields(fmt: Format) -> tuple[Field, ...]:
    """Return the field of each bit, the highest bit first; an integer is all mantissa.

    >>> from core.dtypes import FORMATS
    >>> bit_fields(FORMATS["float4_e2m1fn"])
    ('sign', 'exponent', 'exponent', 'mantissa')
    """
    exponent = fmt.exponent_bits if isinstance(fmt, FloatFormat) else 0
    signed = isinstance(fmt, FloatFormat | IntFormat) and fmt.signed
    widths = {"sign": int(signed), "exponent": exponent, "mantissa": fmt.bits - exponent - signed}
    return tuple(field for field in FIELD_ORDER for _bit in range(widths[field]))


def columns_of(fmt: Format) -> range:
    """Return the column of each bit, the highest first, when rows are aligned.

    The last exponent bit stands in column -1, the first mantissa bit in column 0. The ones of an
    integer stand in column -1, as if a point followed them.
    """
    if isinstance(fmt, FloatFormat):
        end = fmt.mantissa_bits
    else:
        end = fmt.fraction_bits if isinstance(fmt, IntFormat) else 0
    return range(end - fmt.bits, end)


def _formula(fmt: Format, code: int) -> str:
    if isinstance(fmt, FloatFormat):
        return _float_formula(fmt, code)
    if isinstance(fmt, IntFormat):
        scale = f" × 2^-{fmt.fraction_bits}" if fmt.fraction_bits else ""
        if fmt.signed:
            return f"-{int(fmt.is_negative(code)) << fmt.width - 1} + {code & fmt.highest}{scale}"
        return f"{code}{scale}"
    return f"values[{code}]"


def _float_formula(fmt: FloatFormat, code: int) -> str:
    sign, exponent, mantissa = fields(fmt, code)
    start = "" if sign is None else f"(-1)^{sign} × "
    size = 1 << fmt.mantissa_bits
    is_low = fmt.zero and not exponent
    power = f"2^({int(fmt.zero) if is_low else exponent or 0} - {fmt.bias})"
    if is_low and not fmt.subnormals:
        return f"{start}0"
    if mantissa is None:
        return f"{start}{power} × {0 if is_low else 1}"
    return f"{start}{power} × ({0 if is_low else 1} + {mantissa}/{size})"
