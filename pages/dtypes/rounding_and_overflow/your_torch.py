"""What torch and the hardware do: casts of probe values, every dtype's operations, chips."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import streamlit as st

from core.dtypes.libraries.differences import (
    CASES,
    Library,
    answer_of,
    depends_on_length,
    difference_of,
    differs,
    format_of,
)
from core.dtypes.libraries.hardware import COLUMNS, HARDWARE, STATUS_WORDS, Chip, Source, column_of
from core.dtypes.libraries.library import reader_pairs, row_without_torch
from core.dtypes.libraries.library_records import CastRow, LibraryReport, OperationRow
from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.machine.kept_library import cast_in_child
from pages.dtypes.rounding_and_overflow.inputs import ASK, Case
from pages.dtypes.rounding_and_overflow.modes import frame_cell, word_axes
from pages.server.background import jobs
from pages.server.rate import take_turn
from pages.shared.charts import table_markdown
from pages.shared.dtypes.asked_report import asked, asked_report
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

LIBRARIES: Final[tuple[Library, ...]] = ("torch", "ml_dtypes")
_WHOLE: Final = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
# The dtypes of torch in groups that fit a screen, and how their names begin; the first that fits.
FAMILIES: Final = {
    "floats": N_("floats"),
    "integers": N_("whole bytes"),
    "few": N_("1 to 7 bits"),
    "others": N_("complex, quantized, bits"),
}
_STARTS: Final = (("float", "bfloat"), _WHOLE, ("int", "uint"), ("",))
_ROW_PX: Final = 13
_DIGITS: Final = 10
_CELL_DIGITS: Final = 6  # what a cell has room for beside two others
_UNEXPLAINED: Final = N_("Nobody has explained this one yet.")
VIEWS: Final = {
    "format": N_("This format"),
    "differences": N_("All differences"),
    "operations": N_("Operations"),
    "hardware": N_("Hardware"),
}
_ASKED: Final = "rounding_torch_asked"  # the text that this session asked torch about
_MOST_BITS: Final = 16
_MARK_ROW_PX: Final = 14
_SLANTED_PX: Final = 5  # a slanted name needs about this much height for each letter
# What a mark looks like (a marker of plotly, or a single sign that is written), and its colour.
_CHIP_MARKS: Final = {
    "matrix": ("square", "matrix_units"),
    "vector": ("circle", "vector_units"),
    "converted": ("triangle-down-open", "converted"),
    "no": ("x-thin", "absent"),
    "unknown": ("?", "muted"),
}
_OPERATION_MARKS: Final = {"works": ("circle", "works"), "refused": ("x-thin", "refused")}
_OPERATION_WORDS: Final = {"works": N_("works"), "refused": N_("refused")}
Marks = Mapping[tuple[str, str], tuple[str, str]]  # row, column -> kind of mark, hover


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """One reason for differences, with all whom it concerns."""

    sentence: str
    source: str
    libraries: tuple[str, ...]
    formats: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to show of this torch: a view and, of the operations, a family of dtypes on a device."""

    view: str
    family: str = ""
    device: str = ""


def _choose_torch() -> Wanted:
    view = ASK.selectbox("torch", _("What to show"), VIEWS, default="format")
    if view != "operations":
        return Wanted(view)
    family = ASK.selectbox("family", _("Dtypes"), FAMILIES, default="floats")
    devices = {"cpu": "CPU", "accelerator": N_("accelerator")}
    return Wanted(view, family, ASK.segmented("device", _("Device"), devices, default="cpu"))


def your_torch(case: Case, wanted: Wanted) -> Shown:
    """Show casts by the specification, torch and ml_dtypes, what differs, and what torch can do."""
    if wanted.view == "hardware":
        return _hardware(case.fmt)
    report = asked_report()
    if report is None:
        return Shown(headline=_("What your torch does: ask it below"))
    if wanted.view == "format":
        shown = _casts(report, case)
    elif wanted.view == "differences":
        shown = _differences(report)
    else:
        shown = _operations(report, case, wanted)
    where = _("Asked in a separate process: torch {torch}, ml_dtypes {ml_dtypes}.").format(
        torch=report.torch, ml_dtypes=report.ml_dtypes
    )
    return replace(shown, notes=[*shown.notes, where])


def _casts(report: LibraryReport, case: Case) -> Shown:
    fmt, text = case.fmt, case.text.strip()
    _offer_to_ask(text)
    rows = [row for row in report.casts if row.format == fmt.name]
    headline = sentence(fmt.name, rows, report.torch)
    if not isinstance(fmt, FloatFormat) or fmt.bits > _MOST_BITS:
        words = _(
            "Casts are compared for floats of at most 16 bits, and {format} is none: "
            "choose one of them, or look at all differences."
        )
        return Shown(headline=headline, notes=[words.format(format=fmt.name)])
    shown = (*_reader_rows(text, fmt), *filter(worth_showing, rows))
    picture = casts_picture(fmt.name, shown, look())

    def say_why() -> None:
        with st.container():  # one below the other on a projector too
            _show_reasons(shown)

    chart = Chart(picture=picture, file_name="casts", key="casts")
    return Shown(headline=headline, charts=[chart], beside=say_why, widths=(3, 2))


def sentence(format_name: str, rows: Sequence[CastRow], version: str) -> str:
    """Return in how many of the probe values that are shown torch leaves the specification."""
    if not any(row.torch is not None for row in rows):
        return _("torch {version} has no {format}").format(version=version, format=format_name)
    shown = [row for row in rows if worth_showing(row)]
    count = sum(differs(row, "torch") for row in shown)
    return _("{format}: torch {version} differs in {count} of {total} probe values").format(
        format=format_name, version=version, count=count, total=len(shown)
    )


def _differences(report: LibraryReport) -> Shown:
    rows = differing(report.casts)
    _show_reasons(rows, with_formats=True)
    with st.expander(_("Every one of them"), icon=":material/table:"):
        st.markdown(table_markdown(cast_table(rows, with_format=True)))
    shown = [row for row in report.casts if worth_showing(row)]
    headline = _(
        "All formats: of {total} probe values torch {torch} differs in {by_torch}, ml_dtypes "
        "{ml_dtypes} in {by_ml_dtypes}"
    ).format(
        total=len(shown),
        torch=report.torch,
        by_torch=sum(differs(row, "torch") for row in shown),
        ml_dtypes=report.ml_dtypes,
        by_ml_dtypes=sum(differs(row, "ml_dtypes") for row in shown),
    )
    return Shown(headline=headline)


def _show_reasons(rows: Sequence[CastRow], *, with_formats: bool = False) -> None:
    for reason in reasons_of(rows):
        formats = f" `{'` `'.join(reason.formats)}`" if with_formats else ""
        libraries = _(", ").join(reason.libraries)
        said = f"**≠ {libraries}** · {reason.sentence}{formats}"
        st.markdown(_("{said} :small[({source})]").format(said=said, source=reason.source))
    if words := length_words(rows):
        st.caption(words)


def _operations(report: LibraryReport, case: Case, wanted: Wanted) -> Shown:
    device = report.devices[0 if wanted.device == "cpu" else -1]
    if wanted.device != "cpu" and len(report.devices) == 1:
        headline = _("Operations of torch {version}: n/a on this device")
        notes = [_("n/a on this device")]
        return Shown(headline=headline.format(version=report.torch), notes=notes)
    rows = [row for row in report.operations if row.device == device]
    rows = [row for row in rows if family_of(row.dtype) == wanted.family]
    of_format = [row for row in rows if format_of(row.dtype) is case.fmt]
    headline = _("{format}: torch {version} on {device} does {count} of {total} operations").format(
        format=case.fmt.name if of_format else _(FAMILIES[wanted.family]),
        version=report.torch,
        device=device,
        count=sum(row.works for row in of_format or rows),
        total=len(of_format or rows),
    )
    tried = _(
        "Each was really tried on a small square of ones, on {device}; a result that is not "
        "right does not count. Where torch cannot convert, it got raw bytes."
    ).format(device=device)
    picture = operations_picture(rows, look())
    chart = Chart(picture=picture, file_name="torch-operations", key="operations")
    return Shown(headline=headline, charts=[chart], notes=[tried])


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
    cells = [(0, y, digits(row.ours, _CELL_DIGITS), names[y]) for y, row in enumerate(rows)]
    for x, library in enumerate(LIBRARIES, start=1):
        for y, row in enumerate(rows):
            text = _answer_words(row, library, _CELL_DIGITS)
            known = difference_of(row, library)
            if is_other := differs(row, library):
                line = {"color": look.color("overflow"), "width": 2}
                frame_cell(drawing, (x, y), 0.44, line, look)
            hover = _(known.reason) if known else _answer_words(row, library)
            cells.append((x, y, f"<b>≠ {text}</b>" if is_other else text, hover))
    xs, ys, texts, hovers = zip(*cells, strict=True)
    drawing.scatter(
        x=xs, y=ys, mode="text", text=texts, hovertext=hovers, hoverinfo="text",
        textfont={"color": look.color("text"), "size": size},
    )  # fmt: skip
    axes = word_axes([_("specification"), *LIBRARIES], names, look, row_px=_ROW_PX)
    figure = drawing.figure(look.layout() | axes)
    return Picture(figure=figure, alt=_casts_sentence(format_name, rows), table=cast_table(rows))


def _casts_sentence(format_name: str, rows: Sequence[CastRow]) -> str:
    parts = []
    for library in LIBRARIES:
        others = [_number_words(row) for row in rows if differs(row, library)]
        if others:
            parts.append(_("{label}: {text}").format(label=library, text=_("; ").join(others)))
    text = _("{count} numbers cast to {format}: all libraries follow the specification.")
    if parts:
        text = _("{count} numbers cast to {format}. Other than specified: {where}.")
    return text.format(count=len(rows), format=format_name, where=" | ".join(parts))


def cast_table(rows: Sequence[CastRow], *, with_format: bool = False) -> Table:
    """Return a row a number; an answer other than specified is marked by "≠" and printed bold."""
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


def _answer_words(row: CastRow, library: Library, most: int = _DIGITS) -> str:
    answer = answer_of(row, library)
    if answer is None:
        return "–"
    text = digits(answer, most)
    if library == "torch" and depends_on_length(row):
        return f"{text} (0x{row.torch_code:X} / 0x{row.torch_code_long:X})"
    return text


def worth_showing(row: CastRow) -> bool:
    """Return whether a number tells anything: NaN as float64 does so only where bits differ."""
    return row.case != "nan_float64" or depends_on_length(row) or bool(differing([row]))


def differing(rows: Sequence[CastRow]) -> tuple[CastRow, ...]:
    return tuple(row for row in rows if any(differs(row, library) for library in LIBRARIES))


def reasons_of(rows: Sequence[CastRow]) -> tuple[Reason, ...]:
    """Return each reason for a difference, translated; once for each group of libraries."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in rows:
        for library in LIBRARIES:
            if differs(row, library):
                known = difference_of(row, library)
                why = (known.reason, known.source) if known else (_UNEXPLAINED, "–")
                found.setdefault(why, {}).setdefault(row.format, []).append(library)
    return tuple(
        Reason(sentence=_(reason), source=_(source), libraries=libraries, formats=tuple(names))
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
    return next(
        name for name, starts in zip(FAMILIES, _STARTS, strict=True) if dtype.startswith(starts)
    )


def operations_picture(rows: Sequence[OperationRow], look: Look) -> Picture:
    """Return a row a dtype and a column an operation; torch's own words stand behind a failure."""
    marks = {
        (row.dtype, row.operation): (
            "works" if row.works else "refused",
            f"<b>{row.dtype}</b> · {row.operation}<br>{row.message or _('works')}",
        )
        for row in rows
    }
    able: dict[str, int] = {}
    for row in rows:
        able[row.dtype] = able.get(row.dtype, 0) + row.works
    told = _("; ").join(f"{name} {count}" for name, count in able.items())
    total = len({row.operation for row in rows})
    refused = [row for row in rows if not row.works]
    drawing, layout = mark_matrix(marks, _OPERATION_MARKS, _OPERATION_WORDS, look, slanted=True)
    return Picture(
        figure=drawing.figure(layout),
        alt=_("Of {total} operations work: {dtypes}.").format(total=total, dtypes=told),
        table={
            _("dtype"): [row.dtype for row in refused],
            _("operation"): [row.operation for row in refused],
            _("torch's own words"): [row.message for row in refused],
        },
    )


def _hardware(fmt: Format) -> Shown:
    """Show chips by formats, the column of this format on a band, and its sources below."""
    column = column_of(fmt.name)

    def show_sources() -> None:
        with st.expander(_("Who says so, and when"), icon=":material/menu_book:"):
            st.markdown(table_markdown(source_rows(column or next(iter(COLUMNS)))))

    return Shown(
        headline=chips_sentence(fmt),
        charts=[Chart(picture=hardware_picture(column, look()), file_name="hardware")],
        notes=[_("? is unknown: no document was found that says it, and nothing is guessed.")],
        below=show_sources,
    )


def chips_sentence(fmt: Format) -> str:
    """Return how many of the chips multiply a format in units for matrices."""
    column, total = column_of(fmt.name), len(HARDWARE)
    if column is None:
        text = _("{format} has no column: none of these {total} chips is known to compute in it")
        return text.format(format=fmt.name, total=total)
    able = sum(chip.status(column) == "matrix" for chip in HARDWARE)
    text = _("{format}: {count} of {total} chips multiply it in matrix units")
    return text.format(format=column, count=able, total=total)


def hardware_picture(column: str | None, look: Look) -> Picture:
    """Return a row a chip and a column a format; the column in question lies on a band."""
    marks = {
        (chip.name, name): (cell.status, cell_words(chip, name))
        for chip in HARDWARE
        for name, cell in chip.cells.items()
    }
    table = {_("chip"): [f"{chip.name}, {chip.year}, {chip.architecture}" for chip in HARDWARE]}
    for name in COLUMNS:
        table[name] = [_(STATUS_WORDS[chip.status(name)]) for chip in HARDWARE]
    if column is None:
        alt = _("{chips} chips by {formats} formats: what each computes natively.").format(
            chips=len(HARDWARE), formats=len(COLUMNS)
        )
    else:
        by_status = {
            _(words): [chip.name for chip in HARDWARE if chip.status(column) == status]
            for status, words in STATUS_WORDS.items()
        }
        parts = [
            _("{label}: {text}").format(label=words, text=_(", ").join(names))
            for words, names in by_status.items()
            if names
        ]
        alt = _("{format} on {chips} chips. {parts}.").format(
            format=column, chips=len(HARDWARE), parts=_("; ").join(parts)
        )
    drawing, layout = mark_matrix(marks, _CHIP_MARKS, STATUS_WORDS, look, lit=column)
    return Picture(figure=drawing.figure(layout), alt=alt, table=table)


def cell_words(chip: Chip, column: str) -> str:
    cell = chip.cells[column]
    lines = [f"<b>{chip.name}</b> · {column}: {_(STATUS_WORDS[cell.status])}"]
    if cell.note:
        lines.append(_(cell.note))
    if cell.source is not None:
        lines.append(f"{cell.source.title} ({cell.source.date})")
    return "<br>".join(lines)


def source_rows(column: str) -> Table:
    cells = [chip.cells[column] for chip in HARDWARE]
    return {
        _("chip"): [chip.name for chip in HARDWARE],
        column: [_(STATUS_WORDS[cell.status]) for cell in cells],
        _("source"): [_linked(cell.source) for cell in cells],
        _("date"): [cell.source.date if cell.source else "–" for cell in cells],
        _("note"): [_(cell.note) if cell.note else "" for cell in cells],
    }


def _linked(source: Source | None) -> str:
    if source is None:
        return "–"
    return f"[{source.title}]({source.address})" if source.address else source.title


def mark_matrix(
    marks: Marks,
    looks: Mapping[str, tuple[str, str]],
    words: Mapping[Any, str],
    look: Look,
    *,
    lit: str | None = None,
    slanted: bool = False,
) -> tuple[Drawing, dict[str, Any]]:
    """Return marks, rows and columns in the order in which they come, and their layout.

    For each kind of mark `looks` has its symbol and the meaning of its colour, `words` what the
    legend says. A band lies under the column `lit`; many columns have `slanted` names.
    """
    layout, drawing = look.layout(), Drawing()
    size = int(layout["font"]["size"])
    rows, columns = [list(dict.fromkeys(pair[part] for pair in marks)) for part in (0, 1)]
    for kind, (symbol, meaning) in looks.items():
        cells = [(pair, hover) for pair, (each, hover) in marks.items() if each == kind]
        _draw_marks(drawing, cells, symbol, look.color(meaning), _(words[kind]), size)
    if lit in columns:
        place, color = columns.index(lit), look.color("surface")
        drawing.shape(
            type="rect", x0=place - 0.5, x1=place + 0.5, y0=0, y1=1, xref="x", yref="y domain",
            fillcolor=color, layer="below", line={"width": 0},
        )  # fmt: skip
    slant = _SLANTED_PX * max(map(len, columns), default=0) * size // 15 if slanted else 0
    named = {"type": "category", "categoryorder": "array", "tickmode": "array", "fixedrange": True}
    across = {"categoryarray": columns, "tickvals": columns, "range": [-0.5, len(columns) - 0.5]}
    above = {"tickangle": -35 if slanted else 0, "side": "top", "showgrid": False}
    down = {"categoryarray": rows, "tickvals": rows, "range": [len(rows) - 0.5, -0.5]}
    frame = {
        "height": len(rows) * (_MARK_ROW_PX + size // 2) + 4 * size + slant,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "legend": layout["legend"] | {"y": -0.02, "yanchor": "top"},
        "xaxis": layout["xaxis"] | named | across | above,
        "yaxis": layout["yaxis"] | named | down,
    }
    return drawing, layout | frame


def _draw_marks(
    drawing: Drawing,
    cells: Sequence[tuple[tuple[str, str], str]],
    symbol: str,
    color: str,
    words: str,
    size: int,
) -> None:
    is_sign = len(symbol) == 1
    drawing.scatter(
        x=[column for (_row, column), _hover in cells], y=[row for (row, _column), _hover in cells],
        mode="text" if is_sign else "markers", text=[symbol] * len(cells),
        textfont={"color": color, "size": size + 2},
        marker={
            "symbol": "circle" if is_sign else symbol,
            "color": color,
            "size": size,
            "line": {"color": color, "width": 2},
        },
        name=words, hovertext=[hover for _pair, hover in cells], hoverinfo="text",
        legendgroup=words, showlegend=bool(cells) and not is_sign,
    )  # fmt: skip
    if cells and is_sign:  # an entry that names it: plotly's own shows "Aa" for all words
        drawing.scatter(
            x=[None], y=[None], mode="markers", marker={"color": "rgba(0,0,0,0)"},
            name=f'<b style="color:{color}">{symbol}</b> {words}', legendgroup=words,
            hoverinfo="skip",
        )  # fmt: skip


TAB = Tab(label=N_("Your torch"), show=your_torch, choose=_choose_torch, reading="torch")
