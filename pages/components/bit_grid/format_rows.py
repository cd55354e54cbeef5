"""A number format as the row of data that the browser's codec reads."""

from collections.abc import Mapping
from typing import Any

from core.dtypes import CodebookFormat, FloatFormat, Format, IntFormat
from core.dtypes.number_formats.float_format import RULES


def format_row(fmt: Format) -> Mapping[str, Any]:
    """Return what codec.js needs to know about a format; every number is exact as a float64.

    Raises:
        ValueError: If the kind of format is not known to the browser.
    """
    row: dict[str, Any] = {"name": fmt.name, "bits": fmt.bits}
    if isinstance(fmt, FloatFormat):
        return row | {"kind": "float"} | {name: getattr(fmt, name) for name in RULES}
    if isinstance(fmt, IntFormat):
        return row | {"kind": "int", "signed": fmt.signed, "fraction_bits": fmt.fraction_bits}
    if isinstance(fmt, CodebookFormat):
        return row | {"kind": "codebook", "signed": False, "values": list(fmt.values)}
    raise ValueError(f"the browser has no codec for {type(fmt).__name__}")
