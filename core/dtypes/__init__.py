"""What a bit pattern means: formats as rows of data, and one codec for all of them."""

from core.dtypes.blocks.block_formats import BLOCK_FORMATS, BlockFormat
from core.dtypes.blocks.block_layout import Quantized
from core.dtypes.blocks.error_stats import error_stats
from core.dtypes.cast.explain_cast import CastTrace, explain_cast
from core.dtypes.facts.explain import DecodedCode, explain_code
from core.dtypes.number_formats.codebook_format import CodebookFormat
from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format
from core.dtypes.number_formats.int_format import IntFormat
from core.dtypes.number_formats.table import FORMATS, find_format, float_format
from core.dtypes.rounding import OVERFLOWS, ROUNDINGS, Overflow, Rounding

__all__ = [
    "BLOCK_FORMATS",
    "FORMATS",
    "OVERFLOWS",
    "ROUNDINGS",
    "BlockFormat",
    "CastTrace",
    "CodebookFormat",
    "DecodedCode",
    "FloatFormat",
    "Format",
    "IntFormat",
    "Overflow",
    "Quantized",
    "Rounding",
    "error_stats",
    "explain_cast",
    "explain_code",
    "find_format",
    "float_format",
]
