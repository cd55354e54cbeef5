"""Which field each bit of a code belongs to, and where it stands when formats are aligned."""

from typing import Final, Literal

from core.dtypes.codebook_format import CodebookFormat
from core.dtypes.float_format import FloatFormat
from core.dtypes.format import Format
from core.dtypes.int_format import IntFormat

Field = Literal["sign", "exponent", "mantissa"]
FIELD_ORDER: Final[tuple[Field, ...]] = ("sign", "exponent", "mantissa")


def bit_fields(fmt: Format) -> tuple[Field, ...]:
    """Return the field of each bit, the highest bit first; an integer is all mantissa.

    >>> from core.dtypes import FORMATS
    >>> bit_fields(FORMATS["float4_e2m1fn"])
    ('sign', 'exponent', 'exponent', 'mantissa')
    """
    exponent = fmt.exponent_bits if isinstance(fmt, FloatFormat) else 0
    signed = not isinstance(fmt, CodebookFormat) and _is_signed(fmt)
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


def _is_signed(fmt: Format) -> bool:
    return isinstance(fmt, FloatFormat | IntFormat) and fmt.signed
