"""What a bit pattern means: formats as rows of data, and one codec for all of them."""

from core.dtypes.blocks.block_formats import BLOCK_FORMATS, BlockFormat
from core.dtypes.blocks.block_layout import Quantized
from core.dtypes.blocks.error_stats import ErrorStats, error_stats
from core.dtypes.blocks.scale_rules import SCALE_RULES, ScaleRule
from core.dtypes.cast.cast_trace import Candidate, CastTrace
from core.dtypes.cast.explain_cast import explain_cast
from core.dtypes.exact import exact_decimal, hex_float, parse_value
from core.dtypes.facts.explain import DecodedCode, explain_code
from core.dtypes.number_formats.codebook_format import CodebookFormat
from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Counts, Format
from core.dtypes.number_formats.int_format import IntFormat
from core.dtypes.number_formats.table import FORMATS, find_format, float_format
from core.dtypes.rounding import OVERFLOWS, ROUNDINGS, Overflow, Rounding

__all__ = [
    "BLOCK_FORMATS",
    "FORMATS",
    "OVERFLOWS",
    "ROUNDINGS",
    "SCALE_RULES",
    "BlockFormat",
    "Candidate",
    "CastTrace",
    "CodebookFormat",
    "Counts",
    "DecodedCode",
    "ErrorStats",
    "FloatFormat",
    "Format",
    "IntFormat",
    "Overflow",
    "Quantized",
    "Rounding",
    "ScaleRule",
    "error_stats",
    "exact_decimal",
    "explain_cast",
    "explain_code",
    "find_format",
    "float_format",
    "hex_float",
    "parse_value",
]
