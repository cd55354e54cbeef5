"""The block formats by name: one row each, with the document or the program that defines it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from core.dtypes.blocks.block_format import BlockFormat
from core.dtypes.blocks.dynamic_codebook import DYNAMIC8
from core.dtypes.blocks.splitting import PER_CHANNEL, PER_TENSOR, BlockSize
from core.dtypes.format import Format
from core.dtypes.formats import FORMATS
from core.dtypes.int_format import IntFormat

_MX = "OCP Microscaling Formats v1.0, table 1"
_NVFP4 = "NVIDIA Blackwell whitepaper, 2025; arithmetic of torchao 0.18, nvfp4_quantize"
_QLORA = "Dettmers et al. 2023, QLoRA, section 3; arithmetic of bitsandbytes 0.50.2"
_INT = "Jacob et al. 2018, section 2.1, with zero point 0 and codes -max to max"
_AFFINE = "Jacob et al. 2018, Quantization and Training of Neural Networks, section 2.1"
_GROUP = "Frantar et al. 2023, GPTQ, section 4: groups of 128 with a float16 scale"
_DEEPSEEK = "DeepSeek-V3 technical report, 2024, section 3.3.2: tiles of 1 x 128"
_FP8 = "Micikevicius et al. 2022, FP8 Formats for Deep Learning, section 3.3; scale amax / 448"

_MXINT8: Final = IntFormat(
    name="mxint8_element",
    width=8,
    signed=True,
    fraction_bits=6,
    source="OCP Microscaling Formats v1.0, section 5.3; stops at -127/64 as microxcaling does",
)


def _mx(name: str, element: Format) -> BlockFormat:
    return BlockFormat(
        name=name,
        element=element,
        block_size=32,
        scale=FORMATS["float8_e8m0fnu"],
        rule="floor",
        source=_MX,
    )


def _nvfp4(name: str, *, tensor_scale: bool) -> BlockFormat:
    return BlockFormat(
        name=name,
        element=FORMATS["float4_e2m1fn"],
        block_size=16,
        scale=FORMATS["float8_e4m3fn"],  # never negative: UE4M3
        tensor_scale=tensor_scale,
        min_scale=FORMATS["float8_e4m3fn"].smallest_normal,
        source=_NVFP4,
    )


def _single(name: str, element: str, block_size: BlockSize, source: str) -> BlockFormat:
    """Return a format with a float32 scale."""
    return BlockFormat(name=name, element=FORMATS[element], block_size=block_size, source=source)


def _grouped(name: str, element: str, source: str, *, symmetric: bool = True) -> BlockFormat:
    """Return a format of groups of 128 with a float16 scale."""
    return BlockFormat(
        name=name,
        element=FORMATS[element],
        block_size=128,
        scale=FORMATS["float16"],
        symmetric=symmetric,
        source=source,
    )


_ROWS: Final = (
    _mx("mxfp8_e4m3", FORMATS["float8_e4m3fn"]),
    _mx("mxfp8_e5m2", FORMATS["float8_e5m2"]),
    _mx("mxfp6_e2m3", FORMATS["float6_e2m3fn"]),
    _mx("mxfp6_e3m2", FORMATS["float6_e3m2fn"]),
    _mx("mxfp4", FORMATS["float4_e2m1fn"]),
    _mx("mxint8", _MXINT8),
    _nvfp4("nvfp4", tensor_scale=True),
    _nvfp4("nvfp4_one_level", tensor_scale=False),
    _single("nf4", "nf4", 64, _QLORA),
    BlockFormat(
        name="nf4_double_quant",
        element=FORMATS["nf4"],
        block_size=64,
        scale=DYNAMIC8,
        double_quant=256,
        source=_QLORA,
    ),
    _single("int8_tensor", "int8", PER_TENSOR, _INT),
    _single("int8_channel", "int8", PER_CHANNEL, _INT),
    _grouped("int8_group128", "int8", _GROUP),
    BlockFormat(
        name="int8_tensor_affine",
        element=FORMATS["uint8"],
        block_size=PER_TENSOR,
        symmetric=False,
        source=_AFFINE,
    ),
    _single("int4_tensor", "int4", PER_TENSOR, _INT),
    _single("int4_channel", "int4", PER_CHANNEL, _INT),
    _grouped("int4_group128", "int4", _GROUP),
    _grouped("int4_group128_affine", "uint4", _GROUP, symmetric=False),
    _single("fp8_tensor", "float8_e4m3fn", PER_TENSOR, _FP8),
    _single("fp8_block128", "float8_e4m3fn", 128, _DEEPSEEK),
)

BLOCK_FORMATS: Final[Mapping[str, BlockFormat]] = MappingProxyType({row.name: row for row in _ROWS})
