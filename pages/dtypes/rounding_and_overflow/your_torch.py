"""What the torch of this machine does with numbers that tell, and with every dtype it has."""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from core.dtypes.libraries.library import reader_pairs, row_without_torch
from core.dtypes.libraries.library_records import CastRow, LibraryReport
from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format
from core.figures.dtypes.rounding_and_overflow.cast_grid import cast_grid, casts_alt
from core.figures.dtypes.rounding_and_overflow.library_casts import (
    cast_table,
    casts_headline,
    differing,
    is_cast_to,
    length_words,
    reasons_of,
    worth_showing,
)
from core.language import _
from core.machine.kept_library import cached_library_report, cast_in_child
from pages.dtypes.rounding_and_overflow.torch_operations import show_operations
from pages.server.background import jobs
from pages.server.rate import take_turn
from pages.shared import pickers
from pages.shared.charts import show_chart, table_markdown
from pages.shared.dtypes.asked_report import asked_report
from pages.shared.settings import presenting, theme_mode

PAGE: Final = "rounding"
VIEWS: Final = ("format", "differences", "operations")
ASKED: Final = "rounding_torch_asked"  # the text that this session asked torch about


def torch_headline(fmt: Format) -> str:
    """Return in how many telling numbers this torch leaves the specification; never waits."""
    report = cached_library_report()
    if report is None:
        return _("What your torch does: ask it below")
    return casts_headline(fmt.name, casts_to(report, fmt.name), report.torch)


def casts_to(report: LibraryReport, format_name: str) -> tuple[CastRow, ...]:
    """Return the casts to one format."""
    return tuple(row for row in report.casts if row.format == format_name)


def show_your_torch(text: str, fmt: Format) -> None:
    """Show casts to a format by the specification, torch and ml_dtypes, and what differs.

    Args:
        text: The reader's number, as `core.dtypes.exact.parse_value` reads it.
        fmt: The format of the page.
    """
    report = asked_report()
    if report is None:
        return
    row = st.container(key="rounding_torch_views", horizontal=True, vertical_alignment="center")
    with row:
        view = pickers.segmented(
            PAGE, "torch", _("What to show"), VIEWS, default="format", labels=_view_label
        )
        if view == "format":
            _offer_to_ask(text)
    show = {
        "format": lambda: _show_format(report, text, fmt),
        "differences": lambda: _show_differences(report),
        "operations": lambda: show_operations(report, row),
    }
    show[view]()
    st.caption(
        _("Asked in a process of its own: torch {torch}, ml_dtypes {ml_dtypes}.").format(
            torch=report.torch, ml_dtypes=report.ml_dtypes
        )
    )


def _view_label(view: str) -> str:
    return {
        "format": _("This format"),
        "differences": _("All differences"),
        "operations": _("Operations"),
    }[view]


def _show_format(report: LibraryReport, text: str, fmt: Format) -> None:
    if not isinstance(fmt, FloatFormat) or not is_cast_to(fmt.name):
        st.caption(
            _(
                "Casts are compared for floats of at most 16 bits, and {format} is none: "
                "choose one of them, or look at all differences."
            ).format(format=fmt.name)
        )
        return
    telling = filter(worth_showing, casts_to(report, fmt.name))
    rows = (*_reader_rows(text, fmt), *telling)
    # A projector has no room for two columns: the reasons go below.
    picture, words = st.columns(1) * 2 if presenting() else st.columns([3, 2], gap="medium")
    with picture:
        show_chart(
            cast_grid(rows, theme_mode(), present=presenting()),
            key="rounding_casts",
            alt=casts_alt(fmt.name, rows),
            table=cast_table(rows),
            file_name="casts",
        )
    with words:
        _show_reasons(rows)


def _show_differences(report: LibraryReport) -> None:
    rows = differing(report.casts)
    _show_reasons(rows, with_formats=True)
    with st.expander(_("Every one of them"), icon=":material/table:"):
        st.markdown(table_markdown(cast_table(rows, with_format=True)))


def _show_reasons(rows: Sequence[CastRow], *, with_formats: bool = False) -> None:
    for told in reasons_of(rows):
        formats = f" `{'` `'.join(told.formats)}`" if with_formats else ""
        libraries = _(", ").join(told.libraries)
        st.markdown(f"**≠ {libraries}** · {told.sentence}{formats} :small[({told.source})]")
    if words := length_words(rows):
        st.caption(words)


def _reader_rows(text: str, fmt: FloatFormat) -> list[CastRow]:
    """Return the casts of the reader's number, torch's too once this session has asked for it."""
    if st.session_state.get(ASKED) == text:
        return [row for row in asked_casts(text) if row.format == fmt.name]
    pairs = reader_pairs(text)
    return [row_without_torch(fmt, telling) for other, telling in pairs if other.name == fmt.name]


def _offer_to_ask(text: str) -> None:
    if st.session_state.get(ASKED) == text:
        return
    if st.button(
        _("Ask torch about {number}").format(number=text), key="rounding_torch_ask",
        icon=":material/play_arrow:",
    ):  # fmt: skip
        _ask(text)


def _ask(text: str) -> None:
    try:
        take_turn("measure")
        with st.spinner(_("Asking torch and ml_dtypes in a process of its own …")):
            asked_casts(text)
    except ValueError as error:
        st.error(str(error))
        return
    st.session_state[ASKED] = text
    st.rerun()


@st.cache_data(max_entries=64, show_spinner=False)
def asked_casts(text: str) -> tuple[CastRow, ...]:
    """Return what the libraries make of a number, asked once by this server."""
    return jobs().finish(f"cast {text}", lambda: cast_in_child(text))
