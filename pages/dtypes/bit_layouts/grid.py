"""One number in one format: the bits to click, and all codes of the format."""

from collections import Counter
from functools import partial
from typing import Final

import streamlit as st

from core.dtypes import Format
from core.dtypes.facts.explain import FIELD_ORDER, bit_fields, explain_code
from core.dtypes.facts.format_facts import format_facts, short_number, written_value
from core.figures.dtypes.bit_layouts.side import FIELD_NAMES
from core.language import _
from pages.components.bit_grid.bit_grid import bit_grid, hex_code
from pages.components.bit_grid.words import KINDS
from pages.dtypes.bit_layouts.inputs import ASK, Number
from pages.dtypes.bit_layouts.snippets import count_code, number_code
from pages.shared.charts import table_csv, table_markdown
from pages.shared.settings import locked
from pages.shared.tabbed_page import Part, Shown

MAX_LISTED_BITS: Final = 8
MAX_FILE_BITS: Final = 16
_CODES_CODE: Final = """
from core.dtypes import FORMATS

fmt = FORMATS["{name}"]
print(fmt.num_codes, "codes,", fmt.counts().finite, "of them numbers; the largest is", fmt.max)
"""


def grid(number: Number) -> Shown:
    """Show the bits of the number, each to be flipped."""
    _draw_grid(number, "bits_grid", show_map=False)
    fmt, code = number.fmt, number.code
    told = explain_code(fmt, code)
    said = _("`{format}` {code} = {value} · {kind}").format(
        format=fmt.name,
        code=hex_code(fmt, code),
        value=written_value(fmt, code),
        kind=_(KINDS[f"kind_{told.kind}"]),
    )
    if told.exponent is not None:
        counts = Counter(bit_fields(fmt))
        fields = " + ".join(
            _("{count} {field}").format(count=counts[field], field=_(FIELD_NAMES[field]))
            for field in FIELD_ORDER
            if counts[field]
        )
        said = _("{said} · {fields} bits").format(said=said, fields=fields)
    part = Part(key="bits_grid", file_name=f"bits-{fmt.name}")
    return Shown(headline=said, part=part, code=number_code(fmt, told))


def codes(number: Number) -> Shown:
    """Show every code of the format as a map, with the number's own bits."""
    _draw_grid(number, "bits_map", show_map=True)
    fmt = number.fmt
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
        headline=said, part=part, code=count_code(fmt) or _CODES_CODE.format(name=fmt.name)
    )


def _draw_grid(number: Number, key: str, *, show_map: bool) -> None:
    bit_grid(
        number.fmt,
        number.code,
        key=key,
        on_code=partial(ASK.set, "code"),
        show_map=show_map,
        locked=locked(),
    )


def _list_codes(fmt: Format) -> None:
    """Offer the same codes as a table and as a file."""
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
