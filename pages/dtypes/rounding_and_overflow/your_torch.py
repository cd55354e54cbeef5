"""What torch and the hardware do: casts of probe values, every dtype's operations, chips."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.libraries.differences import (
    CASES,
    Library,
    answer_of,
    depends_on_length,
    difference_of,
    differs,
    format_of,
)
from core.dtypes.libraries.library import reader_pairs, row_without_torch
from core.dtypes.libraries.library_records import CastRow, LibraryReport, OperationRow
from core.dtypes.number_formats.float_format import FloatFormat
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.dtypes.rounding_and_overflow.matrix import (
    Kind,
    Mark,
    frame_cell,
    mark_matrix,
    word_axes,
)
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.machine.kept_library import cached_library_report, cast_in_child
from pages.dtypes.rounding_and_overflow.hardware import hardware
from pages.dtypes.rounding_and_overflow.inputs import ASK, Case
from pages.dtypes.rounding_and_overflow.zoom import ask_both
from pages.server.background import jobs
from pages.server.rate import take_turn
from pages.shared.charts import table_markdown
from pages.shared.dtypes.asked_report import asked, asked_report
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

LIBRARIES: Final[tuple[Library, ...]] = ("torch", "ml_dtypes")
_WHOLE: Final = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
# The dtypes of torch in groups that fit a screen; the first prefix that fits decides.
FAMILIES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "floats": (N_("floats"), ("float", "bfloat")),
    "integers": (N_("whole bytes"), _WHOLE),
    "few": (N_("1 to 7 bits"), ("int", "uint")),
    "others": (N_("complex, quantized, bits"), ("",)),
}
_ROW_PX: Final = 13
_DIGITS: Final = 10
_UNEXPLAINED: Final = N_("Nobody has explained this one yet.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """One reason for differences, with all whom it concerns."""

    sentence: str
    source: str
    libraries: tuple[str, ...]
    formats: tuple[str, ...]


ASKED_DTYPE: Final = "float8_e4m3fn"
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


def _choose_torch() -> Wanted:
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
        shown, said = _differences(report), _differences_sentence(report)
    else:
        family, kind = wanted.family, wanted.device
        shown, said = (
            _operations(report, family, kind),
            _operations_sentence(report, case, family, kind),
        )
    where = _("Asked in a separate process: torch {torch}, ml_dtypes {ml_dtypes}.").format(
        torch=report.torch, ml_dtypes=report.ml_dtypes
    )
    return replace(shown, headline=said, notes=[*shown.notes, where])


def sentence(format_name: str, rows: Sequence[CastRow], version: str) -> str:
    """Return in how many of the probe values that are shown torch leaves the specification."""
    if not any(row.torch is not None for row in rows):
        return _("torch {version} has no {format}").format(version=version, format=format_name)
    shown = [row for row in rows if worth_showing(row)]
    count = sum(differs(row, "torch") for row in shown)
    return _("{format}: torch {version} differs in {count} of {total} probe values").format(
        format=format_name, version=version, count=count, total=len(shown)
    )


def _differences_sentence(report: LibraryReport) -> str:
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


def _operations_sentence(report: LibraryReport, case: Case, family: str, kind: str) -> str:
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
    if st.session_state.get(_ASKED) == text:
        return [row for row in _asked_casts(text) if row.format == fmt.name]
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
        return _asked_casts(text)

    if asked(ask) is not None:
        st.session_state[_ASKED] = text
        st.rerun()


@st.cache_data(max_entries=64, show_spinner=False)
def _asked_casts(text: str) -> tuple[CastRow, ...]:
    return jobs().finish(f"cast {text}", lambda: cast_in_child(text))


def casts_picture(format_name: str, rows: Sequence[CastRow], look: Look) -> Picture:
    """Return a row a number and a column for the specification, torch and ml_dtypes."""
    drawing, size = Drawing(), int(look.layout()["font"]["size"])
    names = [_number_words(row) for row in rows]
    cells = [(0, y, digits(row.ours, _DIGITS), names[y]) for y, row in enumerate(rows)]
    for x, library in enumerate(LIBRARIES, start=1):
        for y, row in enumerate(rows):
            text, known = _answer_words(row, library), difference_of(row, library)
            if is_other := differs(row, library):
                line = {"color": look.color("overflow"), "width": 2}
                frame_cell(drawing, (x, y), 0.44, line, look)
            hover = _(known.reason) if known else text
            cells.append((x, y, f"<b>≠ {text}</b>" if is_other else text, hover))
    drawing.scatter(
        x=[cell[0] for cell in cells],
        y=[cell[1] for cell in cells],
        mode="text",
        text=[cell[2] for cell in cells],
        textfont={"color": look.color("text"), "size": size},
        hovertext=[cell[3] for cell in cells],
        hoverinfo="text",
    )
    axes = word_axes([_("specification"), *LIBRARIES], names, look, row_px=_ROW_PX)
    figure = drawing.figure(look.layout() | axes)
    return Picture(figure=figure, alt=_casts_sentence(format_name, rows), table=cast_table(rows))


def _casts_sentence(format_name: str, rows: Sequence[CastRow]) -> str:
    parts = []
    for library in LIBRARIES:
        others = [_number_words(row) for row in rows if differs(row, library)]
        if others:
            parts.append(f"{library}: {_('; ').join(others)}")
    if not parts:
        return _(
            "{count} numbers cast to {format}: all libraries follow the specification."
        ).format(count=len(rows), format=format_name)
    return _("{count} numbers cast to {format}. Other than specified: {where}.").format(
        count=len(rows), format=format_name, where=" | ".join(parts)
    )


def cast_table(rows: Sequence[CastRow], *, with_format: bool = False) -> Table:
    """Return a row a number: what the specification says, and what each library makes of it.

    An answer that differs is marked by "≠" and printed bold.
    """
    table = {_("format"): [row.format for row in rows]} if with_format else {}
    table[_("the number")] = [_number_words(row) for row in rows]
    table[_("specification")] = [digits(row.ours, _DIGITS) for row in rows]
    for library in LIBRARIES:
        answers = [(differs(row, library), _answer_words(row, library)) for row in rows]
        table[library] = [f"**≠ {text}**" if is_other else text for is_other, text in answers]
    return table


def _number_words(row: CastRow) -> str:
    number = digits(row.value, _DIGITS)
    words = _(CASES[row.case])
    origin = "" if row.source == "float32" else f" ({row.source})"
    if words == number:
        return f"{words}{origin}"
    return _("{what}: {number}").format(what=words, number=f"{number}{origin}")


def _answer_words(row: CastRow, library: Library) -> str:
    answer = answer_of(row, library)
    if answer is None:
        return "–"
    text = digits(answer, _DIGITS)
    if library == "torch" and depends_on_length(row):
        return f"{text} (0x{row.torch_code:X} / 0x{row.torch_code_long:X})"
    return text


def worth_showing(row: CastRow) -> bool:
    """Return whether a number tells anything: NaN as float64 does so only where bits differ."""
    return row.case != "nan_float64" or depends_on_length(row) or bool(differing([row]))


def differing(rows: Sequence[CastRow]) -> tuple[CastRow, ...]:
    return tuple(row for row in rows if any(differs(row, library) for library in LIBRARIES))


def reasons_of(rows: Sequence[CastRow]) -> tuple[Told, ...]:
    """Return each reason for a difference, translated; once for each group of libraries."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in rows:
        for library in LIBRARIES:
            if differs(row, library):
                known = difference_of(row, library)
                reason = known.reason if known else _UNEXPLAINED
                source = known.source if known else "–"
                formats = found.setdefault((reason, source), {})
                formats.setdefault(row.format, []).append(library)
    return tuple(
        Told(sentence=_(reason), source=_(source), libraries=libraries, formats=tuple(names))
        for (reason, source), formats in found.items()
        for libraries, names in _grouped(formats).items()
    )


def _grouped(formats: Mapping[str, Sequence[str]]) -> dict[tuple[str, ...], list[str]]:
    """Return the formats by the libraries that differ in them: not every library has each."""
    grouped: dict[tuple[str, ...], list[str]] = {}
    for name, libraries in formats.items():
        grouped.setdefault(tuple(dict.fromkeys(libraries)), []).append(name)
    return grouped


def length_words(rows: Sequence[CastRow]) -> str:
    """Return that the bits of a NaN depend on the length of the tensor, or "" if they do not."""
    row = next((row for row in rows if depends_on_length(row)), None)
    if row is None:
        return ""
    return _(
        "Two codes in brackets: torch writes 0x{one:X} for one number alone and 0x{many:X} among "
        "64 of them, where vector instructions do the work. Ask whether a number is NaN, never "
        "which NaN."
    ).format(one=row.torch_code, many=row.torch_code_long)


def family_of(dtype: str) -> str:
    """Return the family that a torch dtype is shown in.

    >>> family_of("bfloat16"), family_of("uint3"), family_of("uint32"), family_of("quint8")
    ('floats', 'few', 'integers', 'others')
    """
    return next(name for name, (_label, starts) in FAMILIES.items() if dtype.startswith(starts))


def operations_picture(rows: Sequence[OperationRow], look: Look) -> Picture:
    """Return a row a dtype and a column an operation; torch's own words stand behind a failure."""
    marks = {
        (row.dtype, row.operation): Mark(
            kind="works" if row.works else "refused",
            hover=f"<b>{row.dtype}</b> · {row.operation}<br>{row.message or _('works')}",
        )
        for row in rows
    }
    kinds = {
        "works": Kind(words=_("works"), symbol="circle", meaning="works"),
        "refused": Kind(words=_("refused"), symbol="x-thin", meaning="refused"),
    }
    able: dict[str, int] = {}
    for row in rows:
        able[row.dtype] = able.get(row.dtype, 0) + row.works
    told = _("; ").join(f"{name} {count}" for name, count in able.items())
    total = len({row.operation for row in rows})
    refused = [row for row in rows if not row.works]
    return Picture(
        figure=mark_matrix(marks, kinds, look, slanted=True),
        alt=_("Of {total} operations work: {dtypes}.").format(total=total, dtypes=told),
        table={
            _("dtype"): [row.dtype for row in refused],
            _("operation"): [row.operation for row in refused],
            _("torch's own words"): [row.message for row in refused],
        },
    )


def _ask_your_torch() -> None:
    """Ask what this torch does with E4M3: of what another view shows, so that it is not seen yet.

    Nobody has asked torch: then the questions of the page.
    """
    report = cached_library_report()
    operations = () if report is None else report.operations
    casts = () if report is None else report.casts
    sums = [
        row
        for row in operations
        if (row.dtype, row.operation, row.device) == (ASKED_DTYPE, "add", "cpu")
    ]
    far = [row for row in casts if (row.format, row.case) == (ASKED_DTYPE, "far")]
    if ASK.used("torch") == "operations" and far:
        _ask_about_a_cast(far[0])
    elif sums:
        _ask_about_a_sum(sums[0])
    else:
        ask_both()


def _ask_about_a_sum(row: OperationRow) -> None:
    outcome = (
        _("It was tried on this machine, and it works.")
        if row.works
        else _("It was tried on this machine; torch says: {message}").format(
            message=f"`{row.message}`"
        )
    )
    works = _("A tensor of {dtype}").format(dtype=ASKED_DTYPE)
    refused = _("An error")
    predict_then_reveal(
        ASK.key("torch_sum"),
        _("x and y are tensors of {dtype} on the CPU. What does x + y give?").format(
            dtype=ASKED_DTYPE
        ),
        (
            Choice(works, None if row.works else outcome),
            Choice(
                _("A tensor of {dtype}").format(dtype="float32"),
                _("Dtypes are promoted where they differ; here both are the same."),
            ),
            Choice(refused, outcome if row.works else None),
        ),
        _(
            "{outcome} These dtypes are made for storage and for matrix units: to compute anything "
            "else, convert first. *Operations* shows what works with which dtype."
        ).format(outcome=outcome),
    )


def _ask_about_a_cast(row: CastRow) -> None:
    answer = "–" if row.torch is None else digits(row.torch)
    largest, specified = digits(FORMATS[ASKED_DTYPE].max), digits(row.ours)
    reasons = {
        specified: _("The specification allows it, but this torch saturates."),
        largest: _("The specification allows it, but this torch does not saturate."),
        "inf": _("E4M3 has no infinity: its codes went to more numbers."),
    }
    predict_then_reveal(
        ASK.key("torch_far"),
        _(
            "What does the torch of this machine make of the largest float32, {value}, in {dtype}?"
        ).format(value=digits(row.value, 5), dtype=ASKED_DTYPE),
        [
            Choice(text, None if text == answer else reasons[text])
            for text in dict.fromkeys([*reasons, answer])
        ],
        _(
            "Asked on this machine: {answer}. Both NaN and the largest number are allowed by the "
            "specification of OCP; *All differences* shows who chose which."
        ).format(answer=answer),
    )


TAB = Tab(
    label=N_("Your torch"),
    show=your_torch,
    choose=_choose_torch,
    question=_ask_your_torch,
    reading="torch",
)
