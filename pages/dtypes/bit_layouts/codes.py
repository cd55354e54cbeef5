"""All codes of a format as a map, with the bits of one number."""

from functools import partial
from typing import Final

import streamlit as st

from core.dtypes import FloatFormat, Format
from core.dtypes.facts.format_facts import format_facts, short_number, written_value
from core.language import N_, _
from pages.components.bit_grid.bit_grid import bit_grid, hex_code
from pages.dtypes.bit_layouts.grid import ask_below_one
from pages.dtypes.bit_layouts.inputs import ASK, Number, choose_number
from pages.shared.charts import table_csv, table_markdown
from pages.shared.tabbed_page import Part, Shown, Tab

LARGEST: Final = """
exponent_bits, mantissa_bits, bias = {fmt.exponent_bits}, {fmt.mantissa_bits}, {fmt.bias}
last = 0x{last:X}  # the largest number of {fmt.name}: the codes above it are infinity or NaN
exponent, mantissa = last >> mantissa_bits, last & (1 << mantissa_bits) - 1
largest = 2.0 ** (exponent - bias) * (1 + mantissa / 2**mantissa_bits)"""
_COUNT: Final = """
print(2 ** (1 + exponent_bits + mantissa_bits), "codes,", 2 * (last + 1), "of them numbers")
print("the largest is", largest)
"""
MAX_LISTED_BITS: Final = 8
MAX_FILE_BITS: Final = 16
_CODES_CODE: Final = """
from core.dtypes import FORMATS

fmt = FORMATS["{name}"]
print(fmt.num_codes, "codes,", fmt.counts().finite, "of them numbers; the largest is", fmt.max)
"""


def codes(number: Number) -> Shown:
    """Show every code of the format as a map, with the number's own bits."""
    fmt = number.fmt
    bit_grid(fmt, number.code, "bits_map", partial(ASK.set, "code"), show_map=True)
    if fmt.bits > MAX_FILE_BITS:
        too_many = _(
            "{count} codes are too many for a map: choose a format of at most 16 bits. "
            "The bits above show any one of them."
        )
        st.caption(too_many.format(count=f"{fmt.num_codes:,}"))
    else:
        _list_codes(fmt)
    facts = format_facts(fmt)
    said = _("`{format}`: {count} codes, {finite} of them numbers; the largest is {max}").format(
        format=fmt.name,
        count=f"{fmt.num_codes:,}",
        finite=f"{facts.counts.finite:,}",
        max=short_number(facts.max),
    )
    part = Part(key="bits_map", file_name=f"codes-{fmt.name}")
    return Shown(
        headline=said, part=part, code=_count_code(fmt) or _CODES_CODE.format(name=fmt.name)
    )


def _list_codes(fmt: Format) -> None:
    columns = (_("code"), _("bits"), _("value"))
    with st.expander(_("The numbers of this picture"), icon=":material/table:"):
        st.download_button(
            _("Table (CSV)"),
            # Made at the click: 65,536 exact numbers take a second.
            lambda: table_csv(_code_table(fmt, columns)),
            f"codes-{fmt.name}.csv",
            "text/csv",
            key="bits_codes_csv",
            on_click="ignore",
        )
        if fmt.bits <= MAX_LISTED_BITS:
            st.markdown(table_markdown(_code_table(fmt, columns)))


def _code_table(fmt: Format, columns: tuple[str, str, str]) -> dict[str, list[str]]:
    code, bits, value = columns
    codes = range(fmt.num_codes)
    return {
        code: [hex_code(fmt, each) for each in codes],
        bits: [f"{each:0{fmt.bits}b}" for each in codes],
        value: [written_value(fmt, each, 20) for each in codes],
    }


def _count_code(fmt: Format) -> str:
    if not isinstance(fmt, FloatFormat) or fmt.counts().finite != 2 * (fmt.max_code + 1):
        return ""
    return (LARGEST + _COUNT).format(fmt=fmt, last=fmt.max_code)


TAB = Tab(label=N_("All codes"), show=codes, choose=choose_number, question=ask_below_one)
