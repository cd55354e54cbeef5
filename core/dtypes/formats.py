"""The number formats by name: their bits, and the bits of a scale that a block shares."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """A number format.

    Attributes:
        name: The name in torch's spelling where torch has one.
        bits: Bits of one stored element.
        block_size: Elements that share one scale; 1 when there is none.
        scale_bits: Bits of that shared scale.
        source: Where the numbers are printed.
    """

    name: str
    bits: int
    source: str
    block_size: int = 1
    scale_bits: int = 0

    @property
    def bits_per_value(self) -> float:
        """Bits that one value costs, its share of the scale included."""
        return self.bits + self.scale_bits / self.block_size


_IEEE = "IEEE 754-2019, table 3.5"
_OFP8 = "OCP 8-bit Floating Point Specification v1.0, table 1"
_MX = "OCP Microscaling Formats v1.0, table 1"
_MX_ELEMENT = "OCP Microscaling Formats v1.0, section 5.3"
_FNUZ = "Noune et al. 2022, 8-bit Numerical Formats for Deep Neural Networks"
_INTEGER = "two's complement or unsigned binary"

_ROWS: Final = (
    Format(name="float64", bits=64, source=_IEEE),
    Format(name="float32", bits=32, source=_IEEE),
    Format(name="tf32", bits=19, source="NVIDIA A100 whitepaper, 2020; stored in 32 bits"),
    Format(name="float16", bits=16, source=_IEEE),
    Format(name="bfloat16", bits=16, source="Intel BFLOAT16 Hardware Numerics Definition, 2018"),
    Format(name="float8_e4m3fn", bits=8, source=_OFP8),
    Format(name="float8_e5m2", bits=8, source=_OFP8),
    Format(name="float8_e4m3", bits=8, source="IEEE 754 rules at 4 exponent and 3 mantissa bits"),
    Format(name="float8_e3m4", bits=8, source="IEEE 754 rules at 3 exponent and 4 mantissa bits"),
    Format(name="float8_e4m3fnuz", bits=8, source=_FNUZ),
    Format(name="float8_e5m2fnuz", bits=8, source=_FNUZ),
    Format(name="float8_e4m3b11fnuz", bits=8, source="Sun et al. 2019, Hybrid 8-bit Training"),
    Format(name="float8_e8m0fnu", bits=8, source="OCP Microscaling Formats v1.0, section 5.4"),
    Format(name="float6_e2m3fn", bits=6, source=_MX_ELEMENT),
    Format(name="float6_e3m2fn", bits=6, source=_MX_ELEMENT),
    Format(name="float4_e2m1fn", bits=4, source=_MX_ELEMENT),
    Format(name="int8", bits=8, source=_INTEGER),
    Format(name="uint8", bits=8, source=_INTEGER),
    Format(name="int4", bits=4, source=_INTEGER),
    Format(name="uint4", bits=4, source=_INTEGER),
    Format(name="int2", bits=2, source=_INTEGER),
    Format(name="uint2", bits=2, source=_INTEGER),
    Format(
        name="nf4",
        bits=4,
        block_size=64,
        scale_bits=32,
        source="Dettmers et al. 2023, QLoRA, section 3",
    ),
    Format(name="mxfp8_e4m3", bits=8, block_size=32, scale_bits=8, source=_MX),
    Format(name="mxfp8_e5m2", bits=8, block_size=32, scale_bits=8, source=_MX),
    Format(name="mxfp6_e2m3", bits=6, block_size=32, scale_bits=8, source=_MX),
    Format(name="mxfp6_e3m2", bits=6, block_size=32, scale_bits=8, source=_MX),
    Format(name="mxfp4", bits=4, block_size=32, scale_bits=8, source=_MX),
    Format(name="mxint8", bits=8, block_size=32, scale_bits=8, source=_MX),
    Format(
        name="nvfp4",
        bits=4,
        block_size=16,
        scale_bits=8,
        source="NVIDIA Blackwell whitepaper, 2025; plus one float32 per tensor",
    ),
)

FORMATS: Final[Mapping[str, Format]] = MappingProxyType({row.name: row for row in _ROWS})
