"""The rows of bits in words: what is stored in each format, the error, and the shared half."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.dtypes import Format
from core.dtypes.cast.cast_trace import CastTrace
from core.dtypes.exact import to_float
from core.dtypes.facts.explain import Field, bit_fields, columns_of
from core.dtypes.facts.format_facts import short_number, written_value
from core.language import _

_TWO_PLACES: Final = re.compile(r"(e[+-])0")


@dataclass(frozen=True, kw_only=True, slots=True)
class BitRow:
    """One format with what the number becomes in it."""

    fmt: Format
    trace: CastTrace

    @property
    def bits(self) -> str:
        """The code in binary, the highest bit first."""
        return f"{self.trace.code:0{self.fmt.bits}b}"

    @property
    def fields(self) -> tuple[Field, ...]:
        """The field of each bit, the highest bit first."""
        return bit_fields(self.fmt)

    @property
    def columns(self) -> range:
        """Where the bits stand: -1 is the last exponent bit, 0 the first mantissa bit."""
        return columns_of(self.fmt)

    @property
    def stored(self) -> str:
        """What is stored, as text."""
        return written_value(self.fmt, self.trace.code, 12)


def error_text(trace: CastTrace) -> str:
    """Return the relative error, or the word for what happened instead."""
    if trace.outcome == "exact":
        return _("exact")
    if trace.outcome == "overflow":
        return _("overflow")
    if trace.relative_error is None:
        return "–"
    percent = to_float(trace.relative_error) * 100
    if abs(percent) >= 1000:
        return _("over 1000 %")
    if abs(percent) >= 99.5:  # two digits of it would be 1e+02
        return f"{percent:+.0f} %".replace("-", "−")
    return _TWO_PLACES.sub(r"\1", f"{percent:+.2g} %").replace("-", "−")


def bit_rows_alt(said: str, rows: Sequence[BitRow]) -> str:
    """Return the picture as sentences: the number in each format, and the shared half."""
    parts = [f"{row.fmt.name} {row.bits} = {row.stored} ({error_text(row.trace)})" for row in rows]
    start = _(
        "{value} in {count} formats, rows of bits aligned where the mantissa begins: {rows}."
    ).format(value=said, count=len(rows), rows="; ".join(parts))
    return " ".join(filter(None, (start, half_sentence(rows))))


def half_sentence(rows: Sequence[BitRow]) -> str:
    """Return whether the bits of bfloat16 are the first 16 of float32; "" without both."""
    by_name = {row.fmt.name: row.bits for row in rows}
    if "float32" not in by_name or "bfloat16" not in by_name:
        return ""
    if by_name["float32"].startswith(by_name["bfloat16"]):
        return _("The 16 bits of bfloat16 are the first 16 bits of float32.")
    return _("bfloat16 is the upper half of float32, here rounded to the nearer neighbour.")


def bit_rows_table(rows: Sequence[BitRow]) -> Mapping[str, Sequence[object]]:
    """Return format, code, bits, stored value and both errors."""
    return {
        _("format"): [row.fmt.name for row in rows],
        _("code"): [f"0x{row.trace.code:0{-(-row.fmt.bits // 4)}X}" for row in rows],
        _("bits"): [row.bits for row in rows],
        _("stored value"): [row.stored for row in rows],
        _("absolute error"): [_error(row.trace) for row in rows],
        _("relative error"): [error_text(row.trace) for row in rows],
    }


def _error(trace: CastTrace) -> str:
    return "–" if trace.error is None else short_number(trace.error, 4)
