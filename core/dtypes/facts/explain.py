"""A code taken apart: its fields, and what they mean."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format
from core.dtypes.number_formats.int_format import IntFormat

Kind = Literal["zero", "subnormal", "normal", "infinity", "nan", "integer", "codebook"]
Field = Literal["sign", "exponent", "mantissa"]
FIELD_ORDER: Final[tuple[Field, ...]] = ("sign", "exponent", "mantissa")


@dataclass(frozen=True, kw_only=True, slots=True)
class DecodedCode:
    """What one code means.

    Attributes:
        sign: The sign field; None where the format has none, as with the two others.
        exponent: The exponent field as a whole number.
        value: The number as float64; a number beyond float64 is infinite here.
        exact: The number itself; None for infinity and NaN.
    """

    code: int
    sign: int | None
    exponent: int | None
    mantissa: int | None
    kind: Kind
    value: float
    exact: Fraction | None


def explain_code(fmt: Format, code: int) -> DecodedCode:
    """Return what one code means, field by field.

    Raises:
        ValueError: If the format has no such code.

    >>> from core.dtypes import FORMATS
    >>> told = explain_code(FORMATS["float8_e4m3fn"], 0x7E)
    >>> told.sign, told.exponent, told.mantissa, told.value
    (0, 15, 6, 448.0)
    """
    value = float(fmt.decode([code])[0])
    exact = fmt.exact(code)
    sign, exponent, mantissa = fields(fmt, code)
    return DecodedCode(
        code=code,
        sign=sign,
        exponent=exponent,
        mantissa=mantissa,
        kind=kind_of(fmt, code),
        value=value,
        exact=None if isinstance(exact, str) else exact,
    )


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
