"""What torch and the hardware do: casts of probe values, every dtype's operations, chips."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from core.dtypes.libraries.differences import differs, format_of
from core.dtypes.libraries.library import reader_pairs, row_without_torch
from core.dtypes.libraries.library_records import CastRow, LibraryReport, OperationRow
from core.dtypes.number_formats.float_format import FloatFormat
from core.figures.dtypes.rounding_and_overflow.your_torch import (
    FAMILIES,
    cast_table,
    casts_picture,
    differing,
    family_of,
    length_words,
    operations_picture,
    reasons_of,
    worth_showing,
)
from core.language import N_, _
from core.machine.kept_library import cast_in_child
from pages.dtypes.rounding_and_overflow.hardware import hardware
from pages.dtypes.rounding_and_overflow.inputs import ASK, Case
from pages.server.background import jobs
from pages.server.rate import take_turn
from pages.shared.charts import table_markdown
from pages.shared.dtypes.asked_report import asked, asked_report
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

VIEWS: Final = {
    "format": N_("This format"),
    "differences": N_("All differences"),
    "operations": N_("Operations"),
    "hardware": N_("Hardware"),
}
_ASKED: Final = "rounding_torch_asked"  # the text that this session asked torch about
_MOST_BITS: Final = 16


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to show of this torch: a view and, of the operations, a family of dtypes on a device."""

    view: str
    family: str = ""
    device: str = ""


def choose_torch() -> Wanted:
    """Ask what to show."""
    view = ASK.selectbox(
        "torch",
        _("What to show"),
        tuple(VIEWS),
        default="format",
        labels=lambda name: _(VIEWS[name]),
    )
    return _choose_operations(view) if view == "operations" else Wanted(view)


def your_torch(case: Case, wanted: Wanted) -> Shown:
    """Show casts by the specification, torch and ml_dtypes, what differs, and what torch can do."""
    if wanted.view == "hardware":
        return hardware(case)
    report = asked_report()
    if report is None:
        return Shown(headline=_("What your torch does: ask it below"))
    if wanted.view == "format":
        _offer_to_ask(case.text.strip())
        shown = _casts(report, case)
        said = sentence(case.fmt.name, _casts_to(report, case.fmt.name), report.torch)
    elif wanted.view == "differences":
        shown, said = _differences(report), differences_sentence(report)
    else:
        family, kind = wanted.family, wanted.device
        shown, said = (
            _operations(report, family, kind),
            operations_sentence(report, case, family, kind),
        )
    where = _("Asked in a separate process: torch {torch}, ml_dtypes {ml_dtypes}.").format(
        torch=report.torch, ml_dtypes=report.ml_dtypes
    )
    return replace(shown, headline=said, notes=[*shown.notes, where])


def sentence(format_name: str, rows: Sequence[CastRow], version: str) -> str:
    """Return in how many of the probe values that are shown torch leaves the specification.

    Args:
        format_name: Of the format in question.
        rows: The casts to it, shown or not.
        version: Of torch.
    """
    if not any(row.torch is not None for row in rows):
        return _("torch {version} has no {format}").format(version=version, format=format_name)
    shown = [row for row in rows if worth_showing(row)]
    count = sum(differs(row, "torch") for row in shown)
    return _("{format}: torch {version} differs in {count} of {total} probe values").format(
        format=format_name, version=version, count=count, total=len(shown)
    )


def differences_sentence(report: LibraryReport) -> str:
    """Return in how many of the probe values of all formats each library differs."""
    shown = [row for row in report.casts if worth_showing(row)]
    return _(
        "All formats: of {total} probe values torch {torch} differs in {by_torch}, ml_dtypes "
        "{ml_dtypes} in {by_ml_dtypes}"
    ).format(
        total=len(shown),
        torch=report.torch,
        by_torch=sum(differs(row, "torch") for row in shown),
        ml_dtypes=report.ml_dtypes,
        by_ml_dtypes=sum(differs(row, "ml_dtypes") for row in shown),
    )


def operations_sentence(report: LibraryReport, case: Case, family: str, kind: str) -> str:
    """Return how many operations work: with the page's format, else with the whole family."""
    device = _device_of(report, kind)
    if device is None:
        return _("Operations of torch {version}: n/a on this device").format(version=report.torch)
    tried = _tried(report, family, device)
    of_format = [row for row in tried if format_of(row.dtype) is case.fmt]
    rows = of_format or tried
    return _("{format}: torch {version} on {device} does {count} of {total} operations").format(
        format=case.fmt.name if of_format else _(FAMILIES[family][0]),
        version=report.torch,
        device=device,
        count=sum(row.works for row in rows),
        total=len(rows),
    )


def _device_of(report: LibraryReport, kind: str) -> str | None:
    """Return the name of the device that was chosen; None if there is no accelerator."""
    if kind == "cpu":
        return report.devices[0]
    return report.devices[-1] if len(report.devices) > 1 else None


def _tried(report: LibraryReport, family: str, device: str) -> list[OperationRow]:
    return [
        row for row in report.operations if row.device == device and family_of(row.dtype) == family
    ]


def _casts_to(report: LibraryReport, format_name: str) -> tuple[CastRow, ...]:
    return tuple(row for row in report.casts if row.format == format_name)


def _casts(report: LibraryReport, case: Case) -> Shown:
    fmt = case.fmt
    if not isinstance(fmt, FloatFormat) or fmt.bits > _MOST_BITS:
        words = _(
            "Casts are compared for floats of at most 16 bits, and {format} is none: "
            "choose one of them, or look at all differences."
        )
        return Shown(notes=[words.format(format=fmt.name)])
    telling = filter(worth_showing, _casts_to(report, fmt.name))
    rows = (*_reader_rows(case.text.strip(), fmt), *telling)
    picture = casts_picture(fmt.name, rows, look())

    def say_why() -> None:
        with st.container():  # one below the other on a projector too
            _show_reasons(rows)

    chart = Chart(picture=picture, file_name="casts", key="casts")
    return Shown(charts=[chart], beside=say_why, widths=(3, 2))


def _differences(report: LibraryReport) -> Shown:
    rows = differing(report.casts)
    _show_reasons(rows, with_formats=True)
    with st.expander(_("Every one of them"), icon=":material/table:"):
        st.markdown(table_markdown(cast_table(rows, with_format=True)))
    return Shown()


def _show_reasons(rows: Sequence[CastRow], *, with_formats: bool = False) -> None:
    for told in reasons_of(rows):
        formats = f" `{'` `'.join(told.formats)}`" if with_formats else ""
        libraries = _(", ").join(told.libraries)
        st.markdown(f"**≠ {libraries}** · {told.sentence}{formats} :small[({told.source})]")
    if words := length_words(rows):
        st.caption(words)


def _choose_operations(view: str) -> Wanted:
    """Ask for a family of dtypes, and for a device."""
    family = ASK.selectbox(
        "family",
        _("Dtypes"),
        tuple(FAMILIES),
        default="floats",
        labels=lambda name: _(FAMILIES[name][0]),
    )
    devices = {"cpu": "CPU", "accelerator": _("accelerator")}
    device = ASK.segmented(
        "device", _("Device"), tuple(devices), default="cpu", labels=devices.__getitem__
    )
    return Wanted(view, family, device)


def _operations(report: LibraryReport, family: str, kind: str) -> Shown:
    device = _device_of(report, kind)
    if device is None:
        return Shown(notes=[_("n/a on this device")])
    rows = _tried(report, family, device)
    tried = _(
        "Each was really tried on a small square of ones, on {device}; a result that is not "
        "right does not count. Where torch cannot convert, it got raw bytes."
    ).format(device=device)
    picture = operations_picture(rows, look())
    chart = Chart(picture=picture, file_name="torch-operations", key="operations")
    return Shown(charts=[chart], notes=[tried])


def _reader_rows(text: str, fmt: FloatFormat) -> list[CastRow]:
    """Return the casts of the reader's number, torch's too once this session has asked for it."""
    if st.session_state.get(_ASKED) == text:
        return [row for row in asked_casts(text) if row.format == fmt.name]
    pairs = reader_pairs(text)
    return [row_without_torch(fmt, telling) for other, telling in pairs if other.name == fmt.name]


def _offer_to_ask(text: str) -> None:
    if st.session_state.get(_ASKED) == text:
        return
    label = _("Ask torch about {number}").format(number=text)
    if not st.button(label, key="rounding_torch_ask", icon=":material/play_arrow:"):
        return

    def ask() -> tuple[CastRow, ...]:
        take_turn("measure")
        return asked_casts(text)

    if asked(ask) is not None:
        st.session_state[_ASKED] = text
        st.rerun()


@st.cache_data(max_entries=64, show_spinner=False)
def asked_casts(text: str) -> tuple[CastRow, ...]:
    """Return what the libraries make of a number, asked once by this server."""
    return jobs().finish(f"cast {text}", lambda: cast_in_child(text))
