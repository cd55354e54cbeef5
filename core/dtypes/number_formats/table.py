"""The number formats by name: one row each, with the document that defines it."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from core.dtypes.number_formats.codebook_format import CodebookFormat, nf4_values
from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format
from core.dtypes.number_formats.int_format import IntFormat

_SINGLE = "IEEE 754-1985; IEEE 754-2019, table 3.5"
_HALF = "IEEE 754-2008, clause 3.6; IEEE 754-2019, table 3.5"
_OFP8 = (
    "Micikevicius et al. 2022, arXiv 2209.05433; "
    "OCP 8-bit Floating Point Specification v1.0, table 1"
)
_MX_ELEMENT = "OCP Microscaling Formats v1.0, section 5.3"
_MX_SCALE = "OCP Microscaling Formats v1.0, section 5.4"
_FNUZ = "Noune et al. 2022, 8-bit Numerical Formats for Deep Neural Networks"
_INTEGER = "two's complement or unsigned binary"


def float_format(  # noqa: PLR0913  the designer turns every knob of a format
    name: str,
    exponent_bits: int,
    mantissa_bits: int,
    bias: int | None = None,
    *,
    signed: bool = True,
    infinity: bool = True,
    num_nans: int = -1,
    negative_zero: bool = True,
    subnormals: bool = True,
) -> FloatFormat:
    """Return a format of your own design: 0 to 15 exponent bits and 0 to 52 of mantissa.

    The bias is that of IEEE, 2**(exponent_bits - 1) - 1, unless said otherwise; the rules are those
    of `FloatFormat`.

    Raises:
        ValueError: If the widths or the specials make no format.

    >>> float_format("float5_e2m2", 2, 2).max
    3.5
    """
    if bias is None:
        bias = (1 << exponent_bits - 1) - 1 if exponent_bits > 0 else 0
    return FloatFormat(
        name=name,
        exponent_bits=exponent_bits,
        mantissa_bits=mantissa_bits,
        bias=bias,
        signed=signed,
        infinity=infinity,
        num_nans=num_nans,
        negative_zero=negative_zero,
        subnormals=subnormals,
        source="designed here",
    )


def _float(name: str, layout: tuple[int, int, int], source: str, year: int = 0) -> FloatFormat:
    return replace(float_format(name, *layout), source=source, year=year)


def _fnuz(name: str, layout: tuple[int, int, int], source: str, year: int) -> FloatFormat:
    """Return a format that is finite, has NaN at the code of -0 and no other special."""
    ieee = _float(name, layout, source, year)
    return replace(ieee, infinity=False, num_nans=0, negative_zero=False)


def _finite(name: str, layout: tuple[int, int, int]) -> FloatFormat:
    return replace(_float(name, layout, _MX_ELEMENT, 2023), infinity=False, num_nans=0)


def _integer(name: str) -> Format:
    signed = not name.startswith("u")
    width = int(name.removeprefix("u").removeprefix("int"))
    return IntFormat(name=name, width=width, signed=signed, source=_INTEGER)


_ROWS: Final[tuple[Format, ...]] = (
    _float("float64", (11, 52, 1023), _SINGLE, 1985),
    _float("float32", (8, 23, 127), _SINGLE, 1985),
    _float("tf32", (8, 10, 127), "NVIDIA A100 whitepaper, 2020; stored in 32 bits", 2020),
    _float("float16", (5, 10, 15), _HALF, 2008),
    _float("bfloat16", (8, 7, 127), "Intel BFLOAT16 Hardware Numerics Definition, 2018", 2018),
    replace(_float("float8_e4m3fn", (4, 3, 7), _OFP8, 2022), infinity=False, num_nans=1),
    _float("float8_e5m2", (5, 2, 15), _OFP8, 2022),
    _float("float8_e4m3", (4, 3, 7), "IEEE 754 rules at 4 exponent and 3 mantissa bits"),
    _float("float8_e3m4", (3, 4, 3), "IEEE 754 rules at 3 exponent and 4 mantissa bits"),
    _fnuz("float8_e4m3fnuz", (4, 3, 8), _FNUZ, 2022),
    _fnuz("float8_e5m2fnuz", (5, 2, 16), _FNUZ, 2022),
    _fnuz("float8_e4m3b11fnuz", (4, 3, 11), "Sun et al. 2019, Hybrid 8-bit Training", 2019),
    replace(
        _float("float8_e8m0fnu", (8, 0, 127), _MX_SCALE, 2023),
        signed=False,
        infinity=False,
        num_nans=1,
        zero=False,
    ),
    _finite("float6_e2m3fn", (2, 3, 1)),
    _finite("float6_e3m2fn", (3, 2, 3)),
    _finite("float4_e2m1fn", (2, 1, 1)),
    *map(_integer, ("int8", "uint8", "int4", "uint4", "int2", "uint2")),
    CodebookFormat(
        name="nf4", values=nf4_values(), source="Dettmers et al. 2023, QLoRA, section 3", year=2023
    ),
)
FORMATS: Final[Mapping[str, Format]] = MappingProxyType({row.name: row for row in _ROWS})


def find_format(name: str) -> Format:
    """Return the format of that name.

    Raises:
        ValueError: If there is none.
    """
    if name not in FORMATS:
        raise ValueError(f"number format {name!r} is not known; use one of: {', '.join(FORMATS)}")
    return FORMATS[name]
