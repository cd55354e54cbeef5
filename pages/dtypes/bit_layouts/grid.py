"""One number in one format: the bits to click, and all codes of the format."""

from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.dtypes import Format
from core.dtypes.facts.explain import explain_code
from core.dtypes.facts.format_facts import format_facts, short_number, written_value
from core.language import _
from pages.components.bit_grid.bit_grid import bit_grid, hex_code
from pages.components.bit_grid.words import KINDS
from pages.dtypes.bit_layouts.inputs import keep_code, picked_code, picked_format
from pages.dtypes.bit_layouts.snippets import codes_snippet, number_snippet
from pages.shared.charts import table_csv, table_markdown
from pages.shared.header import headline
from pages.shared.settings import locked

MAX_LISTED_BITS: Final = 8
MAX_FILE_BITS: Final = 16
FORMAT_WIDTH: Final = 240


def show_grid(bar: DeltaGenerator) -> str:
    """Show the number in the format that is chosen in the bar; return a program that does so."""
    fmt, code = _chosen(bar)
    headline(number_sentence(fmt, code))
    bit_grid(fmt, code, key="bits_grid", on_code=keep_code(), locked=locked())
    return number_snippet(fmt.name, code)


def show_codes(bar: DeltaGenerator) -> str:
    """Show every code of the chosen format as a map; return a program that counts them."""
    fmt, code = _chosen(bar)
    headline(codes_sentence(fmt))
    bit_grid(
        fmt,
        code,
        key="bits_map",
        on_code=keep_code(),
        show_map=True,
        locked=locked(),
    )
    if fmt.bits > MAX_FILE_BITS:
        st.caption(
            _(
                "{count} codes are too many for a map: choose a format of at most 16 bits. "
                "The bits above show any one of them."
            ).format(count=f"{fmt.num_codes:,}")
        )
    else:
        _list_codes(fmt)
    return codes_snippet(fmt.name)


def _chosen(bar: DeltaGenerator) -> tuple[Format, int]:
    with bar, st.container(width=FORMAT_WIDTH):
        fmt = picked_format()
    return fmt, picked_code(fmt)


def number_sentence(fmt: Format, code: int) -> str:
    """Return the headline: which code is which number."""
    told = explain_code(fmt, code)
    return _("`{format}` {code} = {value} · {kind}").format(
        format=fmt.name,
        code=hex_code(fmt, code),
        value=written_value(fmt, code),
        kind=_(KINDS[f"kind_{told.kind}"]),
    )


def codes_sentence(fmt: Format) -> str:
    """Return the headline: how many codes there are, how many are numbers, and the largest."""
    facts = format_facts(fmt)
    return _("`{format}`: {count} codes, {finite} of them numbers; the largest is {max}").format(
        format=fmt.name,
        count=f"{fmt.num_codes:,}",
        finite=f"{facts.counts.finite:,}",
        max=short_number(facts.max),
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
